// Goal: whatever the vocabulary, text comes back as it was, and tokens cut anywhere never print half a character.
// Method: random text of all of Unicode through every public vocabulary of the shared material, cut at every token.
#include <gtest/gtest.h>

#include "text/gguf/pre_tokenizer_names.h"
#include "text/tokenizer_testing.h"

namespace ekvi::text {
namespace {

std::vector<std::filesystem::path> Vocabularies() {
  std::vector<std::filesystem::path> files;
  const auto folder = testing::SharedPath("tokenizers");
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  return files;
}

// `text` without the characters that the vocabulary has not all bytes of (StarCoder's lacks 0xF1), and without U+FFFD.
std::string Writable(const Tokenizer& tokenizer, std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, base::ReadUtf8Head(text).bytes);
    text.remove_prefix(character.size());
    const bool comes_back = tokenizer.DecodeBytes(tokenizer.Encode(character, {.begin = false})) == character;
    if (comes_back && character != base::kReplacementCharacter) kept += character;
  }
  return kept;
}

// The stream's text so far is always the beginning of `text`, and with its end, text or one U+FFFD more.
void ExpectWholeCharacters(const ekvi::Tokenizer& tokenizer, const Ids& ids, const std::string& text) {
  const auto stream = tokenizer.NewTextStream();
  std::string so_far;
  for (size_t i = 0; i < ids.size(); ++i) {
    so_far += stream->Push(ids[i]);
    ASSERT_TRUE(text.starts_with(so_far)) << "after " << i + 1 << " tokens: " << so_far;
    const std::string cut = tokenizer.Decode(std::span(ids).first(i + 1));
    ASSERT_TRUE(cut == so_far || cut == so_far + "\uFFFD") << cut;
  }
  ASSERT_EQ(so_far + stream->Finish(), text);
}

TEST(Vocabularies, AnyValidText_ComesBack_AndCutsNeverPrintHalfACharacter) {
  EKVI_SKIP_WITHOUT(testing::SharedPath("tokenizers"));
  constexpr uint64_t kSeed = 54;
  base::Random random(kSeed);
  for (const auto& file : Vocabularies()) {
    const auto tokenizer = OpenTokenizer(file);
    size_t characters = 0;
    for (int round = 0; round < 60; ++round) {
      const std::string text = Writable(*tokenizer, RandomText(random, 1 + random.Below(60)));
      characters += text.size();
      const Ids ids = tokenizer->Encode(text, {.begin = false});
      ASSERT_EQ(tokenizer->Decode(ids), text) << file << ", seed " << kSeed << ", round " << round;
      ExpectWholeCharacters(*tokenizer, ids, text);
    }
    EXPECT_GT(characters, 2000u) << file;
  }
}

TEST(BR_54, EmojiOfGpt2_IsHeldUntilItIsWhole) {
  const auto file = testing::SharedPath("tokenizers/gpt-2.gguf");
  EKVI_SKIP_WITHOUT(file);
  const auto tokenizer = ekvi::Tokenizer::Load(file);
  const Ids emoji = {8582, 99, 247};
  for (size_t limit = 1; limit <= 3; ++limit) {
    const auto stream = tokenizer->NewTextStream();
    std::string text;
    for (size_t i = 0; i < limit; ++i) text += stream->Push(emoji[i]);
    EXPECT_EQ(text.empty(), limit < 3);
    EXPECT_TRUE(base::IsUtf8(text));
    EXPECT_EQ(stream->Finish(), limit < 3 ? "\uFFFD" : "");
  }
}

TEST(BR_73, EmptyText_HasNoTokensButTheBeginToken) {
  for (const auto& file : Vocabularies()) {
    const auto tokenizer = ekvi::Tokenizer::Load(file);
    EXPECT_TRUE(tokenizer->Encode("", {.begin = false}).empty()) << file;
    EXPECT_LE(tokenizer->Encode("").size(), 1u) << file;
  }
  TestVocabulary vocabulary;
  EXPECT_EQ(vocabulary.Make()->Encode(""), (Ids{1}));
  EXPECT_EQ(vocabulary.Make()->Decode({}), "");
}

class PieceCounter : public PieceSink {
 public:
  void Take(Piece) override { ++count; }
  int count = 0;
};

TEST(BR_50, EveryPieceThatIsAWord_IsEncodedAsItself) {
  const auto file = testing::SharedPath("tokenizers/llama-bpe.gguf");
  EKVI_SKIP_WITHOUT(file);
  const auto tokenizer = OpenTokenizer(file);
  const NamedPreTokenizer rule = FindPreTokenizer("llama-bpe");
  int words = 0;
  for (int32_t id = 0; id < tokenizer->size(); ++id) {
    const std::string text = tokenizer->DecodeBytes(Ids{id});
    if (tokenizer->vocabulary().Kind(id) != PieceKind::kNormal || text.empty() || !base::IsUtf8(text)) continue;
    PieceCounter counter;
    rule.splitter->Split({text, true}, counter);
    if (counter.count != 1) continue;
    ++words;
    ASSERT_EQ(tokenizer->Encode(text, {.begin = false}), (Ids{id})) << text;
  }
  EXPECT_GT(words, 100'000);
}

// Vocabularies of Gemma are merged by score alone: no rule of another family cuts their text, and runs are one token.
TEST(BR_51, AccentsAndRuns_AreMergedByScoreAlone) {
  TestVocabulary vocabulary;
  vocabulary.space_prefix = false;
  vocabulary.pieces = {{"▁déjà", -1}, {"▁d", -9},     {"éj", -8},  {"▁déj", -5}, {"▁▁", -2}, {"▁▁▁", -2},
                       {"\n\n", -3},  {"▁", -20},     {"d", -20},  {"é", -20},   {"j", -20}, {"à", -20},
                       {"x", -20},    {"▁dé", -9.5f}, {"\n", -20}, {"1", -20}};
  const auto tokenizer = vocabulary.Make();
  const auto pieces = [&](std::string_view text) {
    std::vector<std::string> written;
    for (const int32_t id : tokenizer->Encode(text, {.begin = false})) written.emplace_back(tokenizer->Piece(id));
    return written;
  };
  EXPECT_EQ(pieces(" déjà"), (std::vector<std::string>{"▁déjà"}));
  EXPECT_EQ(pieces("\n\n"), (std::vector<std::string>{"\n\n"}));
  EXPECT_EQ(pieces("   x"), (std::vector<std::string>{"▁▁▁", "x"}));
  EXPECT_EQ(pieces("x11"), (std::vector<std::string>{"x", "1", "1"}));
}

}  // namespace
}  // namespace ekvi::text
