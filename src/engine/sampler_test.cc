// Goal: every rule of ekvi/sampling.h alone, all of them together, and the draw. Method: tiny cases computed by hand; a
// naive twin that sorts everything and cuts in the documented order; a chi-square bound on the frequencies under a
// fixed seed.
#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/test_support.h"
#include "numeric/math-inl.h"
#include "numeric/scalar_ops.h"

namespace ekvi::engine {
namespace {

using Logits = std::vector<double>;
using Tokens = std::vector<int32_t>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
// Everything off, so that a test turns on what it is about.
const SamplingOptions kPlain = {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0};
// Probabilities 0.4, 0.3, 0.2, 0.1 of tokens 2, 0, 3, 1.
const Logits kTenths = {std::log(3), std::log(1), std::log(4), std::log(2)};

std::vector<Candidate> Kept(const SamplingOptions& options, const Logits& logits, const Tokens& tokens = {}) {
  Sampler sampler(options, static_cast<int>(logits.size()));
  const auto candidates = sampler.Candidates(logits, tokens);
  return {candidates.begin(), candidates.end()};
}

Tokens KeptTokens(const SamplingOptions& options, const Logits& logits, const Tokens& tokens = {}) {
  Tokens kept;
  for (const Candidate& candidate : Kept(options, logits, tokens)) kept.push_back(candidate.token);
  return kept;
}

SamplingOptions With(void (*set)(SamplingOptions&)) {
  SamplingOptions options = kPlain;
  set(options);
  return options;
}

int32_t SampleOnce(const SamplingOptions& options, const Logits& logits, const Tokens& tokens) {
  return Sampler(options, static_cast<int>(logits.size())).Sample(logits, tokens);
}

TEST(Sampler, Greedy_TakesTheGreatestLogitAndTheSmallestIdAmongEquals) {
  const SamplingOptions greedy = {.temperature = 0};
  EXPECT_EQ(SampleOnce(greedy, {1, 3, 2}, {}), 1);
  EXPECT_EQ(SampleOnce(greedy, {-1, 5, 5, 5}, {}), 1);
  EXPECT_EQ(SampleOnce(greedy, {0.0, -0.0}, {}), 0);
  EXPECT_EQ(SampleOnce(greedy, {-0.0, 0.0}, {}), 0);
  EXPECT_EQ(SampleOnce(greedy, {-kInfinity, -1e300}, {}), 1);
  EXPECT_EQ(SampleOnce({.temperature = 0, .top_k = 1, .top_p = 0, .min_p = 1, .seed = 9}, {1, 3, 2}, {}), 1);
}

TEST(Sampler, Bias_ComesBeforeTheRepetitionPenalty) {
  // (1 + 2) / 2 = 1.5 < 2; the other order would give 1 / 2 + 2 = 2.5.
  EXPECT_EQ(SampleOnce({.temperature = 0, .repetition_penalty = 2, .logit_bias = {{0, 2.0}}}, {1, 2}, {0}), 1);
  EXPECT_EQ(SampleOnce({.temperature = 0, .repetition_penalty = 2, .logit_bias = {{0, 2.0}}}, {1, 2}, {}), 0);
}

TEST(Sampler, Bias_AddsUpAndForbids) {
  EXPECT_EQ(SampleOnce({.temperature = 0, .logit_bias = {{0, 0.75}, {0, 0.75}}}, {1, 2}, {}), 0);
  const SamplingOptions forbidden = With([](SamplingOptions& o) { o.logit_bias = {{2, -kInfinity}}; });
  EXPECT_EQ(KeptTokens(forbidden, kTenths), (Tokens{0, 3, 1}));
  SamplingOptions hot = forbidden;
  hot.temperature = 1e308;
  EXPECT_EQ(KeptTokens(hot, kTenths), (Tokens{0, 3, 1}));
}

TEST(Sampler, Bias_ThatOverflows_StaysFinite) {
  const double most = std::numeric_limits<double>::max();
  EXPECT_EQ(SampleOnce({.temperature = 0, .logit_bias = {{1, most}}}, {0, most}, {}), 1);
  EXPECT_EQ(SampleOnce({.logit_bias = {{1, most}}}, {0, most}, {}), 1);
  EXPECT_EQ(SampleOnce({.repetition_penalty = 1e-300}, {0, most}, {1}), 1);
}

TEST(Sampler, Penalty_DividesPositiveAndMultipliesNegativeLogitsOnce) {
  const SamplingOptions penalty = With([](SamplingOptions& o) { o.repetition_penalty = 2; });
  const auto kept = Kept(penalty, {4, -1, 0, 1}, {0, 1, 0, 2, 0});
  ASSERT_EQ(kept.size(), 4u);
  EXPECT_EQ(kept[0].token, 0);
  EXPECT_EQ(kept[0].logit, 2);
  EXPECT_EQ(kept[1].token, 3);
  EXPECT_EQ(kept[1].logit, 1);
  EXPECT_EQ(kept[2].token, 2);
  EXPECT_EQ(kept[2].logit, 0);
  EXPECT_EQ(kept[3].token, 1);
  EXPECT_EQ(kept[3].logit, -2);
}

TEST(Sampler, PenaltyWindow_LooksAtTheLastTokensOnly) {
  SamplingOptions options = {.temperature = 0, .repetition_penalty = 10, .repetition_window = 2};
  EXPECT_EQ(SampleOnce(options, {3, 2, 1}, {0, 1, 2}), 0);
  EXPECT_EQ(SampleOnce(options, {3, 2, 1}, {1, 0, 2}), 1);
  options.repetition_window = 0;
  EXPECT_EQ(SampleOnce(options, {3, 2.5, 2}, {0, 1, 1, 1}), 2);
  options.repetition_window = 1000;
  EXPECT_EQ(SampleOnce(options, {3, 2.5, 2}, {0, 1, 1, 1}), 2);
}

TEST(Sampler, Penalty_LeavesNoTraceForTheNextCall) {
  Sampler sampler({.temperature = 0, .repetition_penalty = 10}, 3);
  EXPECT_EQ(sampler.Sample(Logits{3, 2, 1}, Tokens{0}), 1);
  EXPECT_EQ(sampler.Sample(Logits{3, 2, 1}, Tokens{}), 0);
  EXPECT_EQ(sampler.Sample(Logits{3, 2, 1}, Tokens{0}), 1);
}

TEST(Sampler, Temperature_DividesDistances) {
  const auto kept = Kept(With([](SamplingOptions& o) { o.temperature = 0.5; }), {1, 0, -1});
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].weight, kWeightUnit);
  EXPECT_NEAR(static_cast<double>(kept[1].weight) * 0x1p-40, std::exp(-2), 0x1p-40);
  EXPECT_NEAR(static_cast<double>(kept[2].weight) * 0x1p-40, std::exp(-4), 0x1p-40);
}

TEST(Sampler, Temperature_AtItsEnds_IsGreedyOrEven) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(SampleOnce({.temperature = 5e-324, .min_p = 0, .seed = seed}, {1, 1.0000001, 0}, {}), 1);
  }
  for (const Candidate& candidate : Kept(With([](SamplingOptions& o) { o.temperature = 1e308; }), {1, 2, 3})) {
    EXPECT_EQ(candidate.weight, kWeightUnit);
  }
}

TEST(Sampler, TopK_KeepsTheBestWithSmallIdsAmongEquals) {
  SamplingOptions options = kPlain;
  for (const auto& [top_k, wanted] : std::vector<std::pair<int, Tokens>>{
           {1, {2}}, {2, {2, 0}}, {3, {2, 0, 3}}, {4, {2, 0, 3, 1}}, {5, {2, 0, 3, 1}}, {0, {2, 0, 3, 1}}}) {
    options.top_k = top_k;
    EXPECT_EQ(KeptTokens(options, kTenths), wanted) << top_k;
  }
  options.top_k = 2;
  EXPECT_EQ(KeptTokens(options, {1, 7, 7, 7, 7}), (Tokens{1, 2}));
}

TEST(Sampler, TopP_KeepsTheFewestThatReachTheShare) {
  SamplingOptions options = kPlain;
  for (const auto& [top_p, count] : std::vector<std::pair<double, size_t>>{
           {0, 1}, {0.39, 1}, {0.41, 2}, {0.69, 2}, {0.71, 3}, {0.89, 3}, {0.91, 4}, {1, 4}}) {
    options.top_p = top_p;
    EXPECT_EQ(Kept(options, kTenths).size(), count) << top_p;
  }
  // Equal weights are exact: 0.5 of four is reached by two.
  options.top_p = 0.5;
  EXPECT_EQ(KeptTokens(options, {3, 3, 3, 3}), (Tokens{0, 1}));
}

TEST(Sampler, MinP_ComparesWithTheBest) {
  SamplingOptions options = kPlain;
  for (const auto& [min_p, count] : std::vector<std::pair<double, size_t>>{
           {0, 4}, {0.2, 4}, {0.3, 3}, {0.49, 3}, {0.51, 2}, {0.74, 2}, {0.76, 1}, {1, 1}}) {
    options.min_p = min_p;
    EXPECT_EQ(Kept(options, kTenths).size(), count) << min_p;
  }
  options.min_p = 1;
  EXPECT_EQ(KeptTokens(options, {1, 5, 5}), (Tokens{1, 2}));
}

TEST(Sampler, TopP_IsAShareOfWhatTopKLeft) {
  // Of all, 0.5 needs two tokens; of the best two (4 / 7 and 3 / 7) one is enough.
  EXPECT_EQ(Kept(With([](SamplingOptions& o) { o.top_p = 0.5; }), kTenths).size(), 2u);
  EXPECT_EQ(Kept(With([](SamplingOptions& o) { o.top_p = 0.5, o.top_k = 2; }), kTenths).size(), 1u);
}

TEST(Sampler, NotFinite_IsCorruptAndNamesPositionAndToken) {
  for (const auto& [logits, part] : std::vector<std::pair<Logits, std::string>>{
           {{0, kNan, 0}, "token position 2: the logit of token 1 is nan"},
           {{0, 0, kInfinity}, "token position 2: the logit of token 2 is inf"},
           {{-kInfinity, -kInfinity, -kInfinity}, "token position 2: all 3 logits are -inf"}}) {
    for (const double temperature : {0.0, 1.0}) {
      const auto error = Thrown([&] { SampleOnce({.temperature = temperature}, logits, {0, 0}); });
      ASSERT_TRUE(error) << part;
      EXPECT_EQ(error->code(), ErrorCode::kCorrupt);
      EXPECT_EQ(error->summary(), "logits are not finite");
      EXPECT_EQ(error->numbers(), part);
      EXPECT_FALSE(error->hint().empty());
    }
  }
}

TEST(Sampler, EverythingForbidden_IsAnInvalidArgument) {
  for (const double temperature : {0.0, 1.0}) {
    const auto error = Thrown([&] {
      SampleOnce({.temperature = temperature, .logit_bias = {{0, -kInfinity}, {1, -kInfinity}}}, {1, 2}, {0});
    });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(error->numbers().find("token position 1"), std::string::npos);
  }
}

TEST(Sampler, Draw_IsTheUniformNumberOfSeedAndPosition) {
  // Four equal logits: the token is the quarter that the number falls into.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SamplingOptions options = kPlain;
    options.seed = seed;
    for (size_t position = 0; position < 200; ++position) {
      const auto wanted = static_cast<int32_t>(base::RandomUnit(seed, position) * 4);
      ASSERT_EQ(SampleOnce(options, {2, 2, 2, 2}, Tokens(position)), wanted);
    }
  }
}

TEST(Sampler, Draw_DoesNotDependOnEarlierCalls) {
  base::Random random(7);
  Logits logits(50);
  for (double& logit : logits) logit = random.Normal() * 2;
  SamplingOptions options = {.seed = 5};
  std::vector<size_t> positions(100);
  std::iota(positions.begin(), positions.end(), 0);
  Tokens in_order;
  for (const size_t position : positions) in_order.push_back(SampleOnce(options, logits, Tokens(position)));
  for (size_t i = positions.size() - 1; i > 0; --i) std::swap(positions[i], positions[random.Below(i + 1)]);
  Sampler used(options, 50);
  for (const size_t position : positions) EXPECT_EQ(used.Sample(logits, Tokens(position)), in_order[position]);
}

TEST(Sampler, Draw_DoesNotDependOnTheHostsRounding) {
  base::Random random(8);
  Logits logits(200);
  for (double& logit : logits) logit = random.Normal() * 3;
  const SamplingOptions options = {.temperature = 1.3, .top_k = 0, .seed = 5};
  for (size_t position = 0; position < 50; ++position) {
    const int32_t wanted = SampleOnce(options, logits, Tokens(position));
    const auto kept = Kept(options, logits);
    std::fesetround(FE_UPWARD);
    const int32_t token = SampleOnce(options, logits, Tokens(position));
    const auto kept_upward = Kept(options, logits);
    const int mode = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(mode, FE_UPWARD);
    EXPECT_EQ(token, wanted);
    ASSERT_EQ(kept.size(), kept_upward.size());
    for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].weight, kept_upward[i].weight);
  }
}

TEST(Sampler, Frequencies_FollowTheProbabilities) {
  const Logits logits = {0, -0.5, -1, -1.5, -2, 0.5, 1, -3};
  constexpr int kDraws = 40000;
  for (const uint64_t seed : {1u, 2u, 3u}) {
    SamplingOptions options = kPlain;
    options.seed = seed;
    Sampler sampler(options, 8);
    double total = 0;
    for (const double logit : logits) total += std::exp(logit);
    std::vector<int> counts(8);
    Tokens tokens;
    for (int i = 0; i < kDraws; ++i) {
      counts[static_cast<size_t>(sampler.Sample(logits, tokens))] += 1;
      tokens.push_back(0);
    }
    double chi_square = 0;
    for (size_t i = 0; i < 8; ++i) {
      const double expected = kDraws * std::exp(logits[i]) / total;
      chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    std::printf("seed %d: chi-square %.2f with 7 degrees of freedom\n", static_cast<int>(seed), chi_square);
    EXPECT_LT(chi_square, 24.3);  // exceeded by chance once in a thousand
  }
}

// The documented order, with everything sorted.
std::vector<Candidate> Naive(const SamplingOptions& options, Logits logits, const Tokens& tokens) {
  for (const auto& [token, bias] : options.logit_bias) logits[static_cast<size_t>(token)] += bias;
  const auto window = static_cast<size_t>(options.repetition_window);
  const size_t from = window == 0 || window > tokens.size() ? 0 : tokens.size() - window;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (std::count(tokens.begin() + static_cast<int64_t>(from), tokens.end(), id) == 0) continue;
    logits[id] = logits[id] > 0 ? logits[id] / options.repetition_penalty : logits[id] * options.repetition_penalty;
  }
  std::vector<Candidate> all;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (logits[id] > -kInfinity) all.push_back({.token = static_cast<int32_t>(id), .logit = logits[id]});
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.logit > b.logit; });
  for (Candidate& candidate : all) {
    const double share = numeric::Exp((candidate.logit - all.front().logit) / options.temperature);
    candidate.weight = static_cast<uint64_t>(std::floor(share * 0x1p40 + 0.5));
  }
  const auto top_k = static_cast<size_t>(options.top_k);
  if (top_k > 0 && top_k < all.size()) all.resize(top_k);
  uint64_t total = 0, sum = 0;
  for (const Candidate& candidate : all) total += candidate.weight;
  const auto wanted = static_cast<uint64_t>(options.top_p * static_cast<double>(total));
  size_t kept = 0;
  while (kept < all.size() && (kept == 0 || options.top_p == 1 || sum < wanted)) sum += all[kept++].weight;
  all.resize(kept);
  std::erase_if(all, [&](const Candidate& candidate) {
    return candidate.weight == 0 || static_cast<double>(candidate.weight) < options.min_p * 0x1p40;
  });
  return all;
}

int32_t NaiveDraw(const std::vector<Candidate>& candidates, uint64_t seed, size_t position) {
  uint64_t total = 0, sum = 0;
  for (const Candidate& candidate : candidates) total += candidate.weight;
  const double target = base::RandomUnit(seed, position) * static_cast<double>(total);
  for (const Candidate& candidate : candidates) {
    sum += candidate.weight;
    if (static_cast<double>(sum) > target) return candidate.token;
  }
  return -1;
}

struct Trial {
  SamplingOptions options;
  Logits logits = {};
  Tokens tokens = {};
};

Trial RandomTrial(base::Random& random) {
  const int vocabulary = static_cast<int>(1 + random.Below(random.Below(10) == 0 ? 900 : 80));
  const auto share = [&] { return random.Below(3) == 0 ? static_cast<double>(random.Below(2)) : random.Unit(); };
  const auto token = [&] { return static_cast<int32_t>(random.Below(static_cast<uint64_t>(vocabulary))); };
  Trial trial = {.options = {.temperature = 0.01 + random.Unit() * 3,
                             .top_k = random.Below(2) == 0 ? 0 : static_cast<int>(random.Below(90)),
                             .top_p = share(),
                             .min_p = share() * random.Unit(),
                             .repetition_penalty = random.Below(2) == 0 ? 1 : 0.5 + random.Unit(),
                             .repetition_window = static_cast<int>(random.Below(20)),
                             .seed = random.Bits()}};
  for (size_t i = random.Below(4); i > 0; --i) {
    trial.options.logit_bias.push_back({token(), random.Below(3) == 0 ? -kInfinity : random.Normal()});
  }
  const bool coarse = random.Below(2) == 0;  // many ties
  for (int i = 0; i < vocabulary; ++i) {
    const double logit = random.Normal() * 10;
    trial.logits.push_back(coarse ? std::floor(logit / 4) : logit);
  }
  for (size_t i = random.Below(30); i > 0; --i) trial.tokens.push_back(token());
  return trial;
}

TEST(Sampler, AnyOptionsTogether_EqualTheNaiveTwinBitForBit) {
  base::Random random(2024);
  int compared = 0;
  for (int i = 0; i < 30000; ++i) {
    const Trial trial = RandomTrial(random);
    const auto wanted = Naive(trial.options, trial.logits, trial.tokens);
    if (wanted.empty()) continue;
    const auto kept = Kept(trial.options, trial.logits, trial.tokens);
    ASSERT_EQ(kept.size(), wanted.size()) << "trial " << i << ", seed 2024";
    for (size_t at = 0; at < wanted.size(); ++at) {
      ASSERT_EQ(kept[at].token, wanted[at].token) << "trial " << i << ", seed 2024";
      ASSERT_EQ(kept[at].weight, wanted[at].weight) << "trial " << i << ", seed 2024";
    }
    ASSERT_EQ(SampleOnce(trial.options, trial.logits, trial.tokens),
              NaiveDraw(wanted, trial.options.seed, trial.tokens.size()))
        << "trial " << i << ", seed 2024";
    ++compared;
  }
  EXPECT_GT(compared, 29000);
}

TEST(Sampler, WholeVocabulary_IsDrawnFromToItsLastToken) {
  // Even weights: the token is the part of [0, 1) that the number falls into, however far the ranking must be walked.
  const Logits even(3000, 1.5);
  SamplingOptions options = kPlain;
  Sampler sampler(options, 3000);
  int32_t greatest = 0;
  for (size_t position = 0; position < 3000; ++position) {
    const auto wanted = static_cast<int32_t>(base::RandomUnit(0, position) * 3000);
    ASSERT_EQ(sampler.Sample(even, Tokens(position)), wanted);
    greatest = std::max(greatest, wanted);
  }
  EXPECT_GT(greatest, 2990);
}

TEST(Sampler, VocabularyTooLargeForItsSums_IsRefused) {
  Sampler({.temperature = 0}, Sampler::kVocabularyMax);
  const auto error = Thrown([] { Sampler({.temperature = 0}, Sampler::kVocabularyMax + 1); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::kUnsupported);
  EXPECT_EQ(error->numbers(), "8388609 tokens, at most 8388608");
}

TEST(Sampler, Calls_AllocateNothing) {
  base::Random random(3);
  Logits logits(5000);
  for (double& logit : logits) logit = random.Normal() * 3;
  const Tokens tokens(700, 17);
  for (const SamplingOptions& options :
       {SamplingOptions{.temperature = 0}, SamplingOptions{}, kPlain, SamplingOptions{.top_k = 0, .top_p = 0.9},
        SamplingOptions{
            .top_k = 0, .top_p = 1, .repetition_penalty = 1.1, .repetition_window = 0, .logit_bias = {{1, 2.0}}}}) {
    Sampler sampler(options, 5000);
    const int64_t before = allocation_count;
    for (int i = 0; i < 3; ++i) sampler.Sample(logits, tokens);
    EXPECT_EQ(allocation_count, before);
  }
}

}  // namespace
}  // namespace ekvi::engine
