// Goal: byte-level tokenizers of GGUF files give the ids of the reference, text survives the way there and back, and no
// text is expensive. Method: the reference's ids for public vocabularies, a merger that searches for the best pair,
// random text, and long runs on a small stack.
#include "text/gguf/bpe_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "files/reader_expect_error.h"
#include "text/tokenizer_testing.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

std::filesystem::path SharedVocabulary(const std::string& name) {
  return testing::SharedPath("tokenizers/" + name + ".gguf");
}

TEST(BpeTokenizer, ReferenceInputs_GiveTheReferenceIds) {
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2", "starcoder"}) {
    EKVI_SKIP_WITHOUT(SharedVocabulary(name));
    EXPECT_GE(ExpectReferenceIds(SharedVocabulary(name)), 45u) << name;
  }
}

TEST(BR_50, WordThatNoMergeReaches_IsStillOneToken) {
  EKVI_SKIP_WITHOUT(SharedVocabulary("llama-bpe"));
  const auto tokenizer = OpenTokenizer(SharedVocabulary("llama-bpe"));
  EXPECT_EQ(tokenizer->Encode(" Việt", kPlain), (Ids{101798}));
  EXPECT_EQ(tokenizer->Encode(" soubor", kPlain), (Ids{127539}));
  EXPECT_EQ(tokenizer->Encode(" hukuk", kPlain), (Ids{119422}));
  EXPECT_EQ(tokenizer->Encode("请你基于以下「评估标准」", kPlain),
            (Ids{15225, 57668, 125510, 88852, 13177, 64479, 112494, 110778, 10646}));
  EXPECT_EQ(tokenizer->Encode("x"), (Ids{128000, 87}));
}

TEST(BR_86, NamesOfControlTokens_AreTextUnlessAskedFor) {
  EKVI_SKIP_WITHOUT(SharedVocabulary("gpt-2"));
  const auto tokenizer = OpenTokenizer(SharedVocabulary("gpt-2"));
  EXPECT_EQ(tokenizer->Encode("<|endoftext|>", kPlain), (Ids{27, 91, 437, 1659, 5239, 91, 29}));
  EXPECT_EQ(tokenizer->Encode("<|endoftext|>", kSpecial), (Ids{50256}));
  EXPECT_TRUE(tokenizer->IsControl(50256));
  EXPECT_EQ(Ids(tokenizer->end_tokens().begin(), tokenizer->end_tokens().end()), (Ids{50256}));
  EXPECT_EQ(tokenizer->Decode(Ids{27, 91, 50256, 29}), "<|>");
}

TEST(BpeTokenizer, AnyBytes_ComeBack) {
  constexpr uint64_t kSeed = 86;
  base::Random random(kSeed);
  // Not starcoder: its vocabulary has no token for the byte F1, so that no tokenizer can write it.
  for (const char* name : {"gpt-2", "llama-bpe", "qwen2"}) {
    EKVI_SKIP_WITHOUT(SharedVocabulary(name));
    const auto tokenizer = OpenTokenizer(SharedVocabulary(name));
    for (int round = 0; round < 300; ++round) {
      const std::string bytes = round % 2 == 0 ? RandomBytes(random, random.Below(60)) : RandomText(random, 40);
      ASSERT_EQ(tokenizer->DecodeBytes(tokenizer->Encode(bytes)), bytes) << name << ", seed " << kSeed << " " << round;
    }
  }
}

TEST(BR_87, LongRunsOnASmallStack_AreEncoded) {
  EKVI_SKIP_WITHOUT(SharedVocabulary("qwen2"));
  const auto tokenizer = OpenTokenizer(SharedVocabulary("qwen2"));
  std::vector<std::string> texts;
  for (const char* part : {"a", "A", " ", "\n", "us", "\u0301", "\u0301\u0323", "7", "!", "好", "\r\n", "a\u0301"}) {
    std::string text;
    while (text.size() < 131072) text += part;
    texts.push_back(text);
  }
  OnSmallStack([&] {
    for (const std::string& text : texts) {
      ASSERT_TRUE(tokenizer->Decode(tokenizer->Encode(text, kPlain)) == text) << text.substr(0, 8);
    }
  });
}

// Joins the best pair again and again, found by searching all of them.
Ids MergeBySearching(const std::vector<BpeMerge>& merges, Ids ids) {
  while (true) {
    size_t best_rank = merges.size(), best = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (merges[rank].left == ids[i] && merges[rank].right == ids[i + 1]) best_rank = rank, best = i;
      }
    }
    if (best_rank == merges.size()) return ids;
    ids[best] = merges[best_rank].result;
    ids.erase(ids.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

TEST(BpeModel, ShortAndLongWords_AreJoinedAsBySearching) {
  constexpr uint64_t kSeed = 1600;
  base::Random random(kSeed);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> pieces = {"a", "b", "c", "d"};
    std::vector<BpeMerge> merges;
    while (pieces.size() < 40) {
      const auto left = random.Below(pieces.size()), right = random.Below(pieces.size());
      const std::string joined = pieces[left] + pieces[right];
      if (joined.size() > 12 || std::ranges::find(pieces, joined) != pieces.end()) continue;
      merges.push_back({static_cast<int32_t>(left), static_cast<int32_t>(right), static_cast<int32_t>(pieces.size())});
      pieces.push_back(joined);
    }
    const std::vector<std::string_view> views(pieces.begin(), pieces.end());
    PieceTable texts(Pieces(views), Spelling::kPlain, pieces.size());
    for (size_t i = 0; i < pieces.size(); ++i) texts.Add(static_cast<int32_t>(i));
    const BpeModel model({.bytes = round % 2 == 0}, std::move(texts), merges, kNoByteTokens, 40);
    for (const size_t length : {1, 2, 3, 5, 8, 13, 39, 40, 41, 42, 80, 200}) {
      std::string word;
      Ids symbols, ids;
      for (size_t i = 0; i < length; ++i) {
        symbols.push_back(static_cast<int32_t>(random.Below(4)));
        word += static_cast<char>('a' + symbols.back());
      }
      const auto encoder = model.NewEncoder(1 << 20, ids);
      const Ids wanted = MergeBySearching(merges, symbols);
      encoder->Encode(word);
      ASSERT_EQ(ids, wanted) << word << ", seed " << kSeed;
      encoder->Encode(word);  // from what has been seen
      ASSERT_EQ(Ids(ids.begin() + static_cast<ptrdiff_t>(wanted.size()), ids.end()), wanted) << word;
    }
  }
}

// A vocabulary of single bytes, some pieces and a control token, as a GGUF file.
struct BpeFile {
  std::string pre = "gpt-2";
  std::vector<std::string> more = {"th", "the", "<|x|>"};
  std::vector<std::string> merges = {"t h", "th e"};
  std::vector<int32_t> more_types = {1, 1, 3};

  std::unique_ptr<Tokenizer> Load() const {
    std::vector<std::string> tokens;
    for (int i = 0; i < 256; ++i) tokens.emplace_back(CharacterOfByte(static_cast<uint8_t>(i)));
    std::vector<int32_t> types(256, 1);
    tokens.insert(tokens.end(), more.begin(), more.end());
    types.insert(types.end(), more_types.begin(), more_types.end());
    files::GgufBuilder builder;
    builder.String("tokenizer.ggml.model", "gpt2").String("tokenizer.ggml.pre", pre);
    builder.Strings("tokenizer.ggml.tokens", tokens).Items("tokenizer.ggml.token_type", 5, types);
    builder.Strings("tokenizer.ggml.merges", merges);
    return LoadBuilt(builder);
  }
};

TEST(LoadTokenizer, UnknownPreTokenizer_IsRefusedByName) {
  BpeFile file;
  file.pre = "made-up";
  files::ExpectError(ErrorCode::kUnsupported, {"tokenizer.ggml.pre", "'made-up'", "llama-bpe"}, [&] { file.Load(); });
  for (const std::string_view name : PreTokenizerNames()) {
    file.pre = name;
    const auto tokenizer = file.Load();
    const std::string text = " The theatre's 1234 hours…\n\n ";
    EXPECT_EQ(tokenizer->Decode(tokenizer->Encode(text, kPlain)), text) << name;
  }
}

TEST(LoadTokenizer, MergesThatDoNotFit_AreRefusedWithTheirPlace) {
  BpeFile file;
  file.merges = {"t h", "th "};
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.merges", "'th '", "item 1 of 2"}, [&] { file.Load(); });
  file.merges = {"th"};
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.merges", "item 0 of 1"}, [&] { file.Load(); });
  file = {};
  file.more[1] = "th";
  files::ExpectError(ErrorCode::kCorrupt, {"tokenizer.ggml.tokens", "'th' twice", "256 and 257"}, [&] { file.Load(); });
}

// A vocabulary that was cut short: what a merge makes need not be a piece. It still stands between two others, and is
// its bytes again where nothing came of it.
TEST(BpeTokenizer, MergesThroughTextsThatAreNoPieces_ReachThosePiecesThatAre) {
  BpeFile file;
  file.more = {"abc"};
  file.more_types = {1};
  file.merges = {"a b", "ab c", "x y"};
  const auto tokenizer = file.Load();
  const Vocabulary& vocabulary = tokenizer->vocabulary();
  int32_t abc = 0;
  while (vocabulary.Piece(abc) != "abc") ++abc;
  const auto of = [&](std::string_view text) { return tokenizer->Encode(text, kPlain); };
  EXPECT_EQ(of("abc"), (Ids{abc}));
  for (const std::string_view text : {"ab", "xy", "aab", "xyxyabcab"}) {
    EXPECT_EQ(tokenizer->Decode(of(text)), text);
    EXPECT_EQ(of(text).size(), text.find("abc") == text.npos ? text.size() : text.size() - 2);
  }
  const std::string many(100'000, 'x');
  EXPECT_EQ(of(many + "y").size(), many.size() + 1);
}

TEST(BpeTokenizer, MergesNeverMakeAControlToken) {
  BpeFile file;
  file.more = {"<|", "|>", "<||>"};
  file.merges = {"< |", "| >", "<| |>"};
  const auto tokenizer = file.Load();
  EXPECT_EQ(tokenizer->Encode("<||>", kPlain), (Ids{256, 257}));
  EXPECT_EQ(tokenizer->Encode("<||>", kSpecial), (Ids{258}));
}

}  // namespace
}  // namespace ekvi::text
