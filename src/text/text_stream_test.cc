// Goal: a stream of tokens gives, piece by piece, the text that decoding all of them gives at once, and never half a
// character. Method: random tokens of real vocabularies, characters cut at every token, streams that continue a prompt.
#include "text/text_stream.h"

#include <gtest/gtest.h>

#include "files/reader_expect_error.h"
#include "text/tokenizer_testing.h"

namespace ekvi::text {
namespace {

TEST(BR_54, RandomTokens_StreamTheTextOfDecodingAtOnce) {
  EKVI_SKIP_WITHOUT(kLlamaFile);
  EKVI_SKIP_WITHOUT(kStoriesFile);
  constexpr uint64_t kSeed = 540;
  base::Random random(kSeed);
  TestVocabulary small{{{"▁", -1}, {"a▁b", -1}, {"\xF0\x9F", -1}, Control("<c>"), UserDefined("<u>")}};
  for (const auto& tokenizer : {LlamaTokenizer(), StoriesTokenizer(), small.Make()}) {
    for (int round = 0; round < 500; ++round) {
      Ids ids;
      for (uint64_t i = 0, n = random.Below(30); i < n; ++i) {
        // Byte pieces and control tokens, the first 259, in half of the places.
        const auto below = random.Below(2) == 0 ? 259u : static_cast<uint32_t>(tokenizer->vocabulary().size());
        ids.push_back(static_cast<int32_t>(random.Below(below)));
      }
      std::string text;
      const auto stream = NewTextStream(*tokenizer);
      for (const int32_t id : ids) {
        const std::string part = stream->Push(id);
        ASSERT_TRUE(base::IsUtf8(part));
        text += part;
      }
      text += stream->Finish();
      ASSERT_EQ(text, tokenizer->Decode(ids)) << "seed " << kSeed << ", round " << round;
    }
  }
}

TEST(BR_54, EmojiCutByATokenLimit_IsHeldThenReplaced) {
  EKVI_SKIP_WITHOUT(kLlamaFile);
  const auto tokenizer = LlamaTokenizer();
  const Ids emoji = {243, 162, 169, 156};
  for (size_t limit = 1; limit <= 4; ++limit) {
    const auto stream = NewTextStream(*tokenizer);
    std::string text;
    for (size_t i = 0; i < limit; ++i) text += stream->Push(emoji[i]);
    EXPECT_EQ(text, limit == 4 ? "\U0001F999" : "");
    EXPECT_EQ(stream->Finish(), limit == 4 ? "" : "\uFFFD");
  }
}

TEST(TextStream, StreamThatContinuesAPrompt_KeepsTheSpaceBetween) {
  EKVI_SKIP_WITHOUT(kLlamaFile);
  const auto tokenizer = LlamaTokenizer();
  const Ids prompt = tokenizer->Encode("Hello");
  EXPECT_EQ(NewTextStream(*tokenizer)->Push(3186), "world");
  EXPECT_EQ(NewTextStream(*tokenizer, prompt)->Push(3186), " world");
  EXPECT_EQ(NewTextStream(*tokenizer, Ids{1})->Push(3186), "world");
  EXPECT_EQ(NewTextStream(*tokenizer, Ids{243, 162, 169})->Push(156), "\U0001F999");
}

TEST(TextStream, ControlTokens_GiveNoText) {
  EKVI_SKIP_WITHOUT(kLlamaFile);
  const auto tokenizer = LlamaTokenizer();
  const auto stream = NewTextStream(*tokenizer);
  EXPECT_EQ(stream->Push(1), "");
  EXPECT_EQ(stream->Push(15043), "Hello");
  EXPECT_EQ(stream->Push(2), "");
  EXPECT_EQ(stream->Push(15043), "Hello");
}

TEST(TextStream, IdOutsideTheVocabulary_LeavesTheStreamAsItWas) {
  EKVI_SKIP_WITHOUT(kLlamaFile);
  const auto tokenizer = LlamaTokenizer();
  const auto stream = NewTextStream(*tokenizer);
  stream->Push(243);
  files::ExpectError(ErrorCode::kInvalidArgument, {"32000", "0 to 31999"}, [&] { stream->Push(32000); });
  for (const int32_t id : {162, 169}) EXPECT_EQ(stream->Push(id), "");
  EXPECT_EQ(stream->Push(156), "\U0001F999");
}

}  // namespace
}  // namespace ekvi::text
