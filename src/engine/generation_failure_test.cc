// Goal: what is refused or fails changes nothing, and what is measured is true. Method: every kind of failure at every
// step, then the same call again; a clock that counts computed tokens; operator new counted.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/generation.h"
#include "engine/generation_rig.h"
#include "engine/test_support.h"

namespace ekvi::engine {
namespace {

const SamplingOptions kGreedy = {.temperature = 0};
const SamplingOptions kDrawn = {
    .temperature = 1.2, .top_k = 0, .top_p = 0.98, .min_p = 0, .repetition_penalty = 1.1, .seed = 4};
const Tokens kPrompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BR_73, EmptyPrompt_NeedsASequence) {
  Rig rig;
  const auto error = Thrown([&] { rig.Generate({}, kGreedy, {}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error->summary(), "the prompt is empty");
  EXPECT_EQ(rig.model->steps(), 0);
  const GenerateResult begin_alone = rig.Generate({1}, kGreedy, {.max_tokens = 5});
  EXPECT_EQ(begin_alone.stats.prompt_tokens, 1);
  EXPECT_EQ(begin_alone.tokens.size(), 5u);
  EXPECT_EQ(rig.Generate({}, kGreedy, {.max_tokens = 5}).tokens.size(), 5u);
}

TEST(BR_74, NoPromptAndNoTokens_LeaveTheNextCallUnharmed) {
  for (int trial = 0; trial < 20; ++trial) {
    Rig rig;
    EXPECT_EQ(Thrown([&] { rig.Generate({}, kGreedy, {.max_tokens = 0}); })->code(), ErrorCode::kInvalidArgument);
    const GenerateResult none = rig.Generate(kPrompt, kGreedy, {.max_tokens = 0});
    EXPECT_EQ(none.finish, FinishReason::kLength);
    EXPECT_TRUE(none.tokens.empty());
    EXPECT_EQ(none.text, "");
    EXPECT_EQ(none.stats.first_token_ns, 0);
    EXPECT_EQ(rig.sequence.cached(), 11);
    EXPECT_TRUE(rig.Generate({}, kGreedy, {.max_tokens = 0}).tokens.empty());
    EXPECT_EQ(rig.Generate({}, kGreedy, {.max_tokens = 9}).tokens,
              Rig().Generate(kPrompt, kGreedy, {.max_tokens = 9}).tokens);
  }
}

TEST(BR_75, TokenZero_IsAToken) {
  const Tokens one = Rig().Generate({0}, kGreedy, {.max_tokens = 5}).tokens;
  const Tokens two = Rig().Generate({0, 0}, kGreedy, {.max_tokens = 5}).tokens;
  EXPECT_EQ(one.size(), 5u);
  EXPECT_NE(one, two);
}

TEST(BR_75, IdsOutsideTheVocabulary_AreRefusedWithTheirIndex) {
  for (const int32_t id : {-1, 64, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()}) {
    for (size_t index = 0; index < kPrompt.size(); ++index) {
      Rig rig;
      rig.Generate({1, 2}, kGreedy, {.max_tokens = 1});
      Tokens prompt = kPrompt;
      prompt[index] = id;
      const int64_t steps = rig.model->steps();
      const auto error = Thrown([&] { rig.Generate(prompt, kGreedy, {}); });
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(error->numbers(),
                "prompt[" + std::to_string(index) + "] = " + std::to_string(id) + ", allowed: 0 to 63");
      std::vector<double> out(prompt.size() * 64);
      EXPECT_EQ(Thrown([&] { rig.generator.Logits(rig.sequence, prompt, out); })->code(), ErrorCode::kInvalidArgument);
      EXPECT_EQ(rig.model->steps(), steps);
      EXPECT_EQ(rig.sequence.size(), 3);
    }
  }
}

TEST(Generation, OptionsOutOfRange_AreRefusedBeforeAnyStep) {
  Rig rig;
  EXPECT_EQ(Thrown([&] { rig.Generate(kPrompt, {.temperature = -1}, {}); })->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Thrown([&] { rig.Generate(kPrompt, kGreedy, {.max_tokens = -1}); })->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Thrown([&] { rig.Generate(kPrompt, kGreedy, {.strings = {""}}); })->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Thrown([&] { Rig bad({.chunk = 0}); })->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(rig.model->steps(), 0);
  EXPECT_EQ(rig.sequence.size(), 0);
}

// Tokens of a sequence after a first turn, and what a second turn gives from there.
struct SecondTurn {
  Tokens before;
  int64_t cached = 0;
  Tokens after = {};
  int64_t steps = 0;
};

SecondTurn Undisturbed(bool reuse) {
  Rig rig({.reuse = reuse});
  rig.Generate({1, 2, 3}, kDrawn, {.max_tokens = 4});
  SecondTurn turn = {.before = rig.tokens(), .cached = rig.sequence.cached()};
  const int64_t first_turn = rig.model->steps();
  turn.after = rig.Generate(kPrompt, kDrawn, {.max_tokens = 8}).tokens;
  turn.steps = rig.model->steps() - first_turn;
  return turn;
}

TEST(Generation, StepThatFails_LeavesTheSequenceAsItWas) {
  for (const bool reuse : {true, false}) {
    const SecondTurn wanted = Undisturbed(reuse);
    for (int64_t failing = 0; failing < wanted.steps; ++failing) {
      Rig rig({.reuse = reuse});
      rig.Generate({1, 2, 3}, kDrawn, {.max_tokens = 4});
      const int64_t first_turn = rig.model->steps();
      rig.model->on_step = [&] {
        if (rig.model->steps() - first_turn == failing) throw Error(ErrorCode::kCapacity, "no block is free");
      };
      const auto error = Thrown([&] { rig.Generate(kPrompt, kDrawn, {.max_tokens = 8}); });
      ASSERT_TRUE(error) << failing;
      EXPECT_EQ(error->code(), ErrorCode::kCapacity) << failing;
      EXPECT_EQ(rig.tokens(), wanted.before);
      if (reuse) {
        EXPECT_EQ(rig.sequence.cached(), wanted.cached);
      }
      rig.model->on_step = nullptr;
      EXPECT_EQ(rig.Generate(kPrompt, kDrawn, {.max_tokens = 8}).tokens, wanted.after);
    }
  }
}

TEST(Generation, CallerThatThrows_LeavesTheSequenceAsItWas) {
  const SecondTurn wanted = Undisturbed(true);
  Rig rig;
  rig.Generate({1, 2, 3}, kDrawn, {.max_tokens = 4});
  rig.on_piece = [&] {
    if (rig.pieces == 3) throw std::runtime_error("the pipe is closed");
  };
  EXPECT_THROW(rig.Generate(kPrompt, kDrawn, {.max_tokens = 8}), std::runtime_error);
  EXPECT_EQ(rig.tokens(), wanted.before);
  EXPECT_EQ(rig.sequence.cached(), wanted.cached);
  rig.on_piece = nullptr;
  EXPECT_EQ(rig.Generate(kPrompt, kDrawn, {.max_tokens = 8}).tokens, wanted.after);
}

// Logits are NaN from a position on.
class DamagedModel final : public FakeModel {
 public:
  explicit DamagedModel(int64_t from) : from_(from) {}

 protected:
  void Score(int64_t position, uint64_t hash, std::span<double> logits) const override {
    FakeModel::Score(position, hash, logits);
    if (position >= from_) logits[7] = kNan;
  }

 private:
  int64_t from_;
};

TEST(Generation, LogitsThatAreNotFinite_EndAsCorruptWithThePosition) {
  DamagedModel model(13);
  const std::atomic<bool> cancel = false;
  ContiguousCache cache(FakeModel::Layout(), {.rows = 1, .max_len = 64});
  Sequence sequence(cache, 0);
  Generator generator(model, cancel, {});
  const StopOptions stops;
  const auto error = Thrown([&] {
    generator.Generate(sequence,
                       {.prompt = kPrompt, .sampling = kGreedy, .stops = stops, .text = Letters(), .on_text = {}});
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
  EXPECT_EQ(error->numbers(), "token position 14: the logit of token 7 is nan");
  EXPECT_EQ(sequence.size(), 0);
  EXPECT_EQ(cache.length(0), 0);
}

TEST(Statistics, CountTokensTimesAndBlocks) {
  Rig rig({.chunk = 4});
  rig.now_ns = [&] { return rig.model->computed_tokens(); };
  const GenerateStats first = rig.Generate(kPrompt, kGreedy, {.max_tokens = 7}).stats;
  EXPECT_EQ(first.prompt_tokens, 11);
  EXPECT_EQ(first.cached_tokens, 0);
  EXPECT_EQ(first.new_tokens, 7);
  EXPECT_EQ(first.prompt_ns, 11);
  EXPECT_EQ(first.first_token_ns, 11);
  EXPECT_EQ(first.token_ns, std::vector<int64_t>(6, 1));
  EXPECT_EQ(first.decode_ns, 6);
  EXPECT_EQ(first.kv_tokens, 17);
  EXPECT_EQ(first.kv_blocks, 2);
  EXPECT_EQ(first.kv_bytes, 2 * BlockBytes(FakeModel::Layout(), 16));
  const GenerateStats second = rig.Generate({8, 8}, kGreedy, {.max_tokens = 1}).stats;
  EXPECT_EQ(second.prompt_tokens, 20);
  EXPECT_EQ(second.cached_tokens, 17);
  EXPECT_EQ(second.prompt_ns, 3);
  EXPECT_TRUE(second.token_ns.empty());
}

TEST(Statistics, WithoutReuse_ShowThePrice) {
  Rig rig({.kind = CacheKind::kContiguous, .chunk = 4, .reuse = false});
  rig.now_ns = [&] { return rig.model->computed_tokens(); };
  rig.Generate(kPrompt, kGreedy, {.max_tokens = 2});
  const GenerateStats stats = rig.Generate({8}, kGreedy, {.max_tokens = 4}).stats;
  EXPECT_EQ(stats.prompt_tokens, 14);
  EXPECT_EQ(stats.cached_tokens, 0);
  EXPECT_EQ(stats.prompt_ns, 14);
  EXPECT_EQ(stats.token_ns, (std::vector<int64_t>{15, 16, 17}));
  EXPECT_EQ(stats.decode_ns, 48);
  EXPECT_EQ(stats.kv_tokens, 17);
  EXPECT_EQ(stats.kv_blocks, 0);
  EXPECT_EQ(stats.kv_bytes, 17 * BytesPerToken(FakeModel::Layout()));
}

TEST(Generation, DecodeSteps_AllocateNothingAfterTheFirst) {
  for (const CacheKind kind : {CacheKind::kPaged, CacheKind::kContiguous}) {
    for (const SamplingOptions& sampling : {kGreedy, kDrawn, SamplingOptions{}}) {
      Rig rig({.kind = kind});
      std::vector<int64_t> counts;
      counts.reserve(200);
      rig.streamed.reserve(200);
      rig.model->on_step = [&] { counts.push_back(allocation_count); };
      const GenerateResult result = rig.Generate(kPrompt, sampling, {.max_tokens = 90, .strings = {"never, never"}});
      ASSERT_EQ(result.tokens.size(), 90u);
      ASSERT_EQ(counts.size(), 2u + 89u);
      for (size_t i = 3; i < counts.size(); ++i) ASSERT_EQ(counts[i], counts[3]) << "step " << i;
    }
  }
}

TEST(Logits, OfAnyCut_AreThoseOfOnePass) {
  std::vector<double> wanted(kPrompt.size() * 64);
  Rig one({.chunk = 100});
  one.generator.Logits(one.sequence, kPrompt, wanted);
  for (const bool reuse : {true, false}) {
    for (size_t cut = 0; cut <= kPrompt.size(); ++cut) {
      Rig rig({.chunk = 3, .reuse = reuse});
      std::vector<double> got(wanted.size());
      const auto tokens = std::span(kPrompt);
      rig.generator.Logits(rig.sequence, tokens.first(cut), std::span(got).first(cut * 64));
      rig.generator.Logits(rig.sequence, tokens.subspan(cut), std::span(got).subspan(cut * 64));
      EXPECT_EQ(got, wanted);
      EXPECT_EQ(rig.sequence.cached(), 11);
      EXPECT_EQ(rig.Generate({}, kDrawn, {.max_tokens = 5}).tokens,
                Rig().Generate(kPrompt, kDrawn, {.max_tokens = 5}).tokens);
    }
  }
}

TEST(Logits, AfterGeneration_ComputeThePendingTokenFirst) {
  Rig rig;
  const Tokens generated = rig.Generate(kPrompt, kGreedy, {.max_tokens = 3}).tokens;
  std::vector<double> got(2 * 64), wanted(16 * 64);
  rig.generator.Logits(rig.sequence, Tokens{20, 21}, got);
  Rig one;
  one.generator.Logits(one.sequence, rig.tokens(), wanted);
  EXPECT_EQ(got, std::vector<double>(wanted.end() - 2 * 64, wanted.end()));
}

TEST(Logits, Refused_LeaveTheSequence) {
  Rig rig;
  rig.Generate(kPrompt, kGreedy, {.max_tokens = 3});
  const Tokens before = rig.tokens();
  std::vector<double> out(12 * 64);
  EXPECT_EQ(Thrown([&] { rig.generator.Logits(rig.sequence, kPrompt, out); })->code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Thrown([&] { rig.generator.Logits(rig.sequence, Tokens(200, 1), {}); })->code(), ErrorCode::kCapacity);
  rig.model->on_step = [&] { rig.cancel = true; };
  const auto error = Thrown([&] { rig.generator.Logits(rig.sequence, kPrompt, std::span(out).first(11 * 64)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kCancelled);
  EXPECT_EQ(error->numbers(), "6 of 11 tokens were computed");
  EXPECT_EQ(rig.tokens(), before);
  EXPECT_EQ(rig.sequence.cached(), 13);
}

}  // namespace
}  // namespace ekvi::engine
