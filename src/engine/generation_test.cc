// Goal: a generation's tokens depend on the tokens before them and the options, not on turns, cuts, caches or
// interruptions, and the reason to finish is right. Method: the fake model hashes what the cache holds, so any mistake
// changes the tokens; results are compared with ==.
#include "engine/generation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "engine/generation_rig.h"
#include "engine/test_support.h"

namespace ekvi::engine {
namespace {

const SamplingOptions kGreedy = {.temperature = 0};
const SamplingOptions kDrawn = {
    .temperature = 1.2, .top_k = 0, .top_p = 0.98, .min_p = 0, .repetition_penalty = 1.1, .seed = 4};
const Tokens kPrompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};

Tokens Concat(std::initializer_list<Tokens> parts) {
  Tokens all;
  for (const Tokens& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::string LettersOf(const Tokens& tokens) {
  std::string text;
  for (const int32_t token : tokens) text += static_cast<char>('a' + token % 26);
  return text;
}

TEST(Generation, ChunkCacheAndReuse_ChangeNoToken) {
  for (const SamplingOptions& sampling : {kGreedy, kDrawn}) {
    const GenerateResult wanted = Rig().Generate(kPrompt, sampling, {.max_tokens = 40});
    ASSERT_EQ(wanted.tokens.size(), 40u);
    EXPECT_EQ(wanted.text, LettersOf(wanted.tokens));
    for (const CacheKind kind : {CacheKind::kPaged, CacheKind::kContiguous}) {
      for (const bool reuse : {true, false}) {
        for (const int64_t chunk : {1, 2, 3, 10, 11, 12, 1000}) {
          Rig rig({.kind = kind, .block_tokens = 32, .chunk = chunk, .reuse = reuse});
          const GenerateResult result = rig.Generate(kPrompt, sampling, {.max_tokens = 40});
          ASSERT_EQ(result.tokens, wanted.tokens) << "chunk " << chunk << ", reuse " << reuse;
          EXPECT_EQ(result.text, wanted.text);
          EXPECT_EQ(rig.streamed, wanted.text);
          EXPECT_EQ(result.finish, FinishReason::kLength);
        }
      }
    }
  }
}

TEST(Generation, Turns_EqualOneLongRun) {
  base::Random random(11);
  for (const bool reuse : {true, false}) {
    for (int trial = 0; trial < 20; ++trial) {
      const SamplingOptions& sampling = trial % 2 == 0 ? kGreedy : kDrawn;
      const Tokens wanted = Rig().Generate(kPrompt, sampling, {.max_tokens = 50}).tokens;
      Rig rig({.reuse = reuse});
      Tokens got;
      while (got.size() < 50) {
        const auto count = static_cast<int64_t>(std::min<uint64_t>(random.Below(12), 50 - got.size()));
        const Tokens prompt = rig.sequence.size() == 0 ? kPrompt : Tokens{};
        const auto result = rig.Generate(prompt, sampling, {.max_tokens = count});
        got.insert(got.end(), result.tokens.begin(), result.tokens.end());
        ASSERT_EQ(rig.tokens(), Concat({kPrompt, got}));
      }
      EXPECT_EQ(got, wanted) << "trial " << trial << ", seed 11";
    }
  }
}

TEST(Generation, TurnsWithPrompts_EqualOnePromptOfAllTokens) {
  Rig rig;
  Tokens all;
  for (const Tokens& prompt : {Tokens{1, 2, 3}, Tokens{4}, Tokens{}, Tokens{0, 0, 7, 8, 9, 10, 11, 12, 13}}) {
    all = Concat({all, prompt});
    const GenerateResult result = rig.Generate(prompt, kDrawn, {.max_tokens = 6});
    EXPECT_EQ(result.tokens, Rig().Generate(all, kDrawn, {.max_tokens = 6}).tokens);
    EXPECT_EQ(result.stats.prompt_tokens, static_cast<int64_t>(all.size()));
    all = Concat({all, result.tokens});
    EXPECT_EQ(rig.tokens(), all);
    EXPECT_EQ(rig.sequence.cached(), rig.sequence.size() - 1);
  }
}

TEST(Generation, AfterTruncation_EqualsAFreshRun) {
  Rig rig;
  rig.Generate(kPrompt, kDrawn, {.max_tokens = 20});
  for (const int64_t length : {15, 11, 4}) {
    rig.sequence.Truncate(length);
    const Tokens start = rig.tokens();
    EXPECT_EQ(rig.Generate({}, kDrawn, {.max_tokens = 8}).tokens,
              Rig().Generate(start, kDrawn, {.max_tokens = 8}).tokens);
    rig.sequence.Truncate(length);
    EXPECT_EQ(rig.Generate({7, 7}, kDrawn, {.max_tokens = 8}).tokens,
              Rig().Generate(Concat({start, {7, 7}}), kDrawn, {.max_tokens = 8}).tokens);
  }
}

TEST(Generation, Cancelled_CanBeContinuedWithEqualTokens) {
  for (const bool reuse : {true, false}) {
    const Tokens wanted = Rig().Generate(kPrompt, kDrawn, {.max_tokens = 12}).tokens;
    for (int64_t steps = 0; steps < 20; ++steps) {
      Rig rig({.chunk = 3, .reuse = reuse});
      rig.cancel = steps == 0;
      rig.model->on_step = [&] { rig.cancel = rig.model->steps() + 1 >= steps; };
      const GenerateResult first = rig.Generate(kPrompt, kDrawn, {.max_tokens = 12});
      // The four chunks of the prompt come before the first token; a step that runs is finished, none follows.
      EXPECT_LE(rig.model->steps(), steps);
      if (reuse) {
        EXPECT_EQ(first.finish, steps < 15 ? FinishReason::kCancelled : FinishReason::kLength);
        EXPECT_EQ(first.tokens.size(), static_cast<size_t>(std::clamp<int64_t>(steps - 3, 0, 12)));
      }
      EXPECT_EQ(rig.tokens(), Concat({kPrompt, first.tokens}));
      rig.model->on_step = nullptr;
      rig.cancel = false;
      const auto left = static_cast<int64_t>(12 - first.tokens.size());
      const GenerateResult second = rig.Generate({}, kDrawn, {.max_tokens = left});
      EXPECT_EQ(Concat({first.tokens, second.tokens}), wanted) << steps;
      EXPECT_EQ(first.text + second.text, LettersOf(wanted));
    }
  }
}

TEST(Generation, EndToken_EndsAndGivesNoText) {
  const Tokens script = {1, 2, 3, 4, 5, 6, 7, 8};
  Rig rig({.end_tokens = {40, 5}, .script = script});
  const GenerateResult result = rig.Generate({1, 2}, kGreedy, {.max_tokens = 6});
  EXPECT_EQ(result.finish, FinishReason::kEnd);
  EXPECT_EQ(result.tokens, (Tokens{3, 4, 5}));
  EXPECT_EQ(result.text, LettersOf({3, 4}));
  EXPECT_EQ(rig.streamed, result.text);
  EXPECT_EQ(rig.tokens(), (Tokens{1, 2, 3, 4, 5}));
}

TEST(Generation, IgnoreEnd_GoesOn) {
  Rig rig({.end_tokens = {5}, .script = {1, 2, 3, 4, 5, 6, 7, 8}});
  const GenerateResult result = rig.Generate({1, 2}, kGreedy, {.max_tokens = 6, .ignore_end = true});
  EXPECT_EQ(result.finish, FinishReason::kLength);
  EXPECT_EQ(result.tokens, (Tokens{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(result.text, LettersOf(result.tokens));
}

TEST(Generation, StopToken_StopsAndTheEndTokenComesFirst) {
  const RigOptions options = {.end_tokens = {5}, .script = {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_EQ(Rig(options).Generate({1, 2}, kGreedy, {.tokens = {4}}).finish, FinishReason::kStop);
  EXPECT_EQ(Rig(options).Generate({1, 2}, kGreedy, {.tokens = {4}}).text, LettersOf({3}));
  EXPECT_EQ(Rig(options).Generate({1, 2}, kGreedy, {.tokens = {5}}).finish, FinishReason::kEnd);
  EXPECT_EQ(Rig(options).Generate({1, 2}, kGreedy, {.ignore_end = true, .tokens = {5}}).finish, FinishReason::kStop);
  EXPECT_EQ(Rig(options).Generate({1, 2}, kGreedy, {.max_tokens = 2, .tokens = {4}}).finish, FinishReason::kStop);
}

TEST(BR_53, EveryStopOutOfTheOutput_EndsTheStreamRightBeforeIt) {
  // "aab" and "aaab" among letters, one a token.
  const Tokens script = {9, 0, 0, 0, 1, 2, 0, 0, 1, 0, 0, 0, 0, 1, 3, 4, 5};
  const std::string whole = LettersOf({script.begin() + 1, script.end()});
  for (size_t from = 0; from < whole.size(); ++from) {
    for (size_t bytes = 1; bytes <= whole.size() - from; ++bytes) {
      const std::string stop = whole.substr(from, bytes);
      const size_t at = whole.find(stop);
      Rig rig({.script = script});
      const auto limit = static_cast<int64_t>(whole.size());
      const GenerateResult result = rig.Generate({9}, kGreedy, {.max_tokens = limit, .strings = {stop}});
      ASSERT_EQ(result.text, whole.substr(0, at)) << stop;
      ASSERT_EQ(rig.streamed, result.text);
      ASSERT_EQ(result.finish, FinishReason::kStop);
      ASSERT_EQ(result.tokens.size(), at + bytes) << "no token after the stop";
    }
  }
}

TEST(BR_53, BeginningOfAStopAtTheEnd_IsDelivered) {
  Rig rig({.script = {9, 3, 4, 5, 6, 7}});
  const GenerateResult result = rig.Generate({9}, kGreedy, {.max_tokens = 4, .strings = {"fghijk"}});
  EXPECT_EQ(result.finish, FinishReason::kLength);
  EXPECT_EQ(result.text, "defg");
  EXPECT_EQ(rig.streamed, "defg");
  EXPECT_EQ(rig.pieces, 3);
}

TEST(BR_54, CharactersSplitOverTokens_ComeOutWholeOrAsOneSign) {
  const std::string text = "\U0001F999 né 你\U0001F642";
  Tokens script = {'>'};
  for (const char c : text) script.push_back(static_cast<unsigned char>(c));
  for (int64_t limit = 1; limit <= static_cast<int64_t>(text.size()); ++limit) {
    Rig rig({.model = {.vocabulary = 256}, .script = script});
    rig.text = Bytes;
    rig.on_piece = [&] { EXPECT_EQ(base::ValidUtf8Prefix(rig.streamed), rig.streamed.size()); };
    const GenerateResult result = rig.Generate({'>'}, kGreedy, {.max_tokens = limit});
    const std::string cut = text.substr(0, static_cast<size_t>(limit));
    const size_t whole = base::ValidUtf8Prefix(cut);
    EXPECT_EQ(result.text, cut.substr(0, whole) + (whole < cut.size() ? "\uFFFD" : "")) << limit;
    EXPECT_EQ(rig.streamed, result.text);
    EXPECT_EQ(result.tokens.size(), static_cast<size_t>(limit));
  }
}

TEST(BR_54, StopAfterASplitCharacter_LeavesItWhole) {
  const std::string text = "\U0001F999!";
  Tokens script = {'>'};
  for (const char c : text) script.push_back(static_cast<unsigned char>(c));
  Rig rig({.model = {.vocabulary = 256}, .script = script});
  rig.text = Bytes;
  EXPECT_EQ(rig.Generate({'>'}, kGreedy, {.strings = {"!"}}).text, "\U0001F999");
  Rig other({.model = {.vocabulary = 256}, .script = script});
  other.text = Bytes;
  const GenerateResult result = other.Generate({'>'}, kGreedy, {.strings = {"\U0001F999"}});
  EXPECT_EQ(result.text, "");
  EXPECT_EQ(result.tokens.size(), 4u);
}

TEST(BR_09, ContextIsUsedToItsLastPosition) {
  const FakeModelOptions model = {.context = 1024};
  for (const auto& [prompt, limit, wanted] : std::vector<std::array<int64_t, 3>>{
           {1022, 1, 1}, {1023, 1, 1}, {1023, 2, 2}, {1023, 3, 2}, {1024, 1, 1}, {1024, 2, 1}, {1000, 500, 25}}) {
    Rig rig({.chunk = 512, .model = model});
    const GenerateResult result = rig.Generate(Tokens(static_cast<size_t>(prompt), 1), kGreedy, {.max_tokens = limit});
    EXPECT_EQ(static_cast<int64_t>(result.tokens.size()), wanted) << prompt << " + " << limit;
    EXPECT_EQ(result.finish, FinishReason::kLength);
    EXPECT_LE(rig.sequence.cached(), 1024);
  }
}

TEST(BR_09, PromptPastTheContext_IsRefusedBeforeAnyStep) {
  Rig rig({.model = {.context = 1024}});
  const auto error = Thrown([&] { rig.Generate(Tokens(1025, 1), kGreedy, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCapacity);
  EXPECT_EQ(error->numbers(), "sequence 0 tokens + prompt 1025 tokens = 1025 > context 1024");
  EXPECT_NE(error->hint().find("by 1 tokens"), std::string::npos);
  EXPECT_EQ(rig.model->steps(), 0);
  EXPECT_EQ(rig.sequence.size(), 0);
  EXPECT_EQ(rig.Generate({1}, kGreedy, {.max_tokens = 3}).tokens.size(), 3u);
  const auto later = Thrown([&] { rig.Generate(Tokens(1021, 1), kGreedy, {}); });
  ASSERT_TRUE(later);
  EXPECT_EQ(later->numbers(), "sequence 4 tokens + prompt 1021 tokens = 1025 > context 1024");
  EXPECT_EQ(rig.sequence.size(), 4);
  EXPECT_EQ(rig.Generate(Tokens(1020, 1), kGreedy, {}).tokens.size(), 1u);
}

TEST(BR_09, FullSequence_IsRefusedUntilCut) {
  Rig rig({.model = {.context = 16}});
  const Tokens first = rig.Generate(Tokens(16, 1), kGreedy, {}).tokens;
  EXPECT_EQ(first.size(), 1u);
  EXPECT_EQ(Thrown([&] { rig.Generate({}, kGreedy, {}); })->numbers(),
            "sequence 17 tokens + prompt 0 tokens = 17 > context 16");
  rig.sequence.Truncate(rig.sequence.cached());
  EXPECT_EQ(rig.Generate({}, kGreedy, {}).tokens, first);
}

TEST(BR_10, NeverMoreThanMaxTokens_AndTheContextEnds) {
  for (int64_t prompt = 1; prompt <= 16; ++prompt) {
    for (const int64_t limit : {0, 1, 2, 15, 16, 17, 100}) {
      for (const bool reuse : {true, false}) {
        Rig rig({.reuse = reuse, .model = {.context = 16}});
        const Tokens tokens(static_cast<size_t>(prompt), 2);
        const GenerateResult result = rig.Generate(tokens, kDrawn, {.max_tokens = limit});
        EXPECT_EQ(static_cast<int64_t>(result.tokens.size()), std::min(limit, 17 - prompt));
        EXPECT_EQ(result.finish, FinishReason::kLength);
      }
    }
  }
  Rig rig({.model = {.context = 16}});
  EXPECT_EQ(rig.Generate({1}, kDrawn, {.max_tokens = std::numeric_limits<int64_t>::max()}).tokens.size(), 16u);
}

}  // namespace
}  // namespace ekvi::engine
