// Goal: the pre-tokenizers that files name cut as their rules say, also where a rule is written differently here so
// that no text is expensive. Method: random text of the characters that the rules tell apart, the rules as they are
// published.
#include "text/gguf/pre_tokenizer_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace ekvi::text {
namespace {

class PieceList : public PieceSink {
 public:
  void Take(Piece piece) override { pieces.emplace_back(piece.text); }
  std::vector<std::string> pieces;
};

std::vector<std::string> Cut(const PreTokenizer& splitter, const std::string& text) {
  PieceList list;
  if (!text.empty()) splitter.Split({text, true}, list);
  return list.pieces;
}

std::string RandomOf(const std::vector<std::string>& parts, size_t count, base::Random& random) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const std::string& part = parts[random.Below(parts.size())];
    for (uint64_t k = 0, n = random.Below(6) == 0 ? random.Below(40) : 1; k < n; ++k) text += part;
  }
  return text;
}

void ExpectCutsAs(std::string_view name, std::string_view published) {
  constexpr uint64_t kSeed = 20;
  base::Random random(kSeed);
  const NamedPreTokenizer named = FindPreTokenizer(name);
  const Splitter reference(std::make_unique<RegexCut>(published), CutBehavior::kIsolated);
  const std::vector<std::string> parts = {"a", "B", "7", " ", " ",      "\n", "\r",    "\t",
                                          "!", "'", "s", "/", "\u0301", "好", "\u00A0"};
  for (int round = 0; round < 3000; ++round) {
    const std::string text = RandomOf(parts, 1 + random.Below(14), random);
    ASSERT_EQ(Cut(*named.splitter, text), Cut(reference, text)) << name << ", seed " << kSeed << ": " << text;
  }
}

TEST(PreTokenizerNames, RulesWrittenForSpeed_CutAsThoseThatArePublished) {
  ExpectCutsAs("jais-2",
               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
               R"(\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|)"
               R"(\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})");
  ExpectCutsAs("exaone-moe",
               R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
               R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)");
}

TEST(PreTokenizerNames, EveryName_KeepsAllOfTheText) {
  constexpr uint64_t kSeed = 21;
  base::Random random(kSeed);
  const std::vector<std::string> parts = {"a", "B", "7", " ", "\n", "!", "'s", "\u0301", "好", "한", "…", "😀", "<s>"};
  for (const std::string_view name : PreTokenizerNames()) {
    const NamedPreTokenizer named = FindPreTokenizer(name);
    for (int round = 0; round < 50; ++round) {
      const std::string text = RandomOf(parts, 20, random);
      std::string together;
      for (const std::string& piece : Cut(*named.splitter, text)) together += piece;
      ASSERT_EQ(together, text) << name << ", seed " << kSeed;
    }
  }
  EXPECT_EQ(FindPreTokenizer("no-such-name").splitter, nullptr);
  EXPECT_EQ(FindPreTokenizer("").splitter, nullptr);
}

}  // namespace
}  // namespace ekvi::text
