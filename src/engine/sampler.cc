// From logits to one token. Candidates are ranked by logit descending, then id. top_k keeps a heap with the worst in
// front, so most logits cost one comparison. What min_p and top_p keep is a beginning of the ranking each, so the
// shorter one is the result, and min_p, which looks at each token alone, goes first and leaves little to sort. top_p
// and the draw walk the ranking from the best; it is sorted only as far as they get. Sums are of integers: no order
// changes them.
#include "engine/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/fpenv.h"
#include "base/random.h"
#include "ekvi/error.h"

namespace ekvi::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// In temperatures below the best logit: exp(-29) is below 2^-41 and its weight zero.
constexpr double kNegligible = 29;
// Candidates sorted first; a fourfold of what was too few next. A model's text rarely needs more than the best 64.
constexpr size_t kFirstSorted = 64;

[[noreturn]] void NotFinite(std::string numbers) {
  throw Error(ErrorCode::kCorrupt, "logits are not finite", std::move(numbers),
              "check that the model's file is whole, or compute in f64: damaged or overflowing weights give this");
}

// The greatest logit with the smallest id; weight 0 where there is none above -inf.
Candidate Best(std::span<const double> logits) {
  Candidate best = {.logit = -kInfinity};
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > best.logit) best = {.token = static_cast<int32_t>(i), .logit = logits[i], .weight = kWeightUnit};
  }
  return best;
}

void CheckLogits(std::span<const double> logits, const Candidate& best, size_t position) {
  bool good = true;
  for (const double logit : logits) good &= logit < kInfinity;
  if (!good) {
    const auto bad = std::ranges::find_if(logits, [](double logit) { return !(logit < kInfinity); });
    NotFinite(fmt::format("token position {}: the logit of token {} is {}", position, bad - logits.begin(), *bad));
  }
  if (best.weight == 0) NotFinite(fmt::format("token position {}: all {} logits are -inf", position, logits.size()));
}

void CheckAllowed(const Candidate& best, size_t position) {
  if (best.weight > 0) return;
  throw Error(ErrorCode::kInvalidArgument, "the logit bias forbids every token",
              fmt::format("token position {}: all logits are -inf", position), "give at least one token a finite bias");
}

// Adding a bias and dividing by a small penalty may overflow.
double Finite(double logit) { return std::min(logit, std::numeric_limits<double>::max()); }

size_t MaxCandidates(const SamplingOptions& options, int vocabulary) {
  if (options.temperature == 0) return 1;
  return static_cast<size_t>(options.top_k == 0 ? vocabulary : std::min(options.top_k, vocabulary));
}

}  // namespace

Sampler::Sampler(const SamplingOptions& options, int vocabulary) : options_(options), vocabulary_(vocabulary) {
  CheckSampling(options, vocabulary);
  if (vocabulary > kVocabularyMax) {
    throw Error(ErrorCode::kUnsupported, "the vocabulary is too large to sample from",
                fmt::format("{} tokens, at most {}", vocabulary, kVocabularyMax), "a model with a smaller vocabulary");
  }
  candidates_.reserve(MaxCandidates(options, vocabulary));
  const bool penalty = options.repetition_penalty != 1;
  if (penalty) penalized_.resize(static_cast<size_t>(vocabulary));
  if (penalty || !options.logit_bias.empty()) adjusted_.resize(static_cast<size_t>(vocabulary));
}

std::span<const double> Sampler::Adjust(std::span<const double> logits, std::span<const int32_t> tokens) {
  if (adjusted_.empty()) return logits;
  std::ranges::copy(logits, adjusted_.begin());
  for (const auto& [token, bias] : options_.logit_bias) adjusted_[token] = Finite(adjusted_[token] + bias);
  if (!penalized_.empty()) {
    const auto window = static_cast<size_t>(options_.repetition_window);
    Penalize(window == 0 ? tokens : tokens.last(std::min(window, tokens.size())));
  }
  return adjusted_;
}

void Sampler::Penalize(std::span<const int32_t> recent) {
  const double penalty = options_.repetition_penalty;
  for (const int32_t token : recent) {
    EKVI_CHECK(token >= 0 && token < vocabulary_);
    if (penalized_[token]) continue;
    penalized_[token] = 1;
    double& logit = adjusted_[token];
    logit = logit > 0 ? Finite(logit / penalty) : logit * penalty;
  }
  for (const int32_t token : recent) penalized_[token] = 0;
}

void Sampler::Select(std::span<const double> logits, double best) {
  const double reach = kNegligible * options_.temperature;
  const size_t limit = MaxCandidates(options_, vocabulary_);
  const bool heap = limit < logits.size();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (best - logits[i] > reach) continue;
    const Candidate candidate = {.token = static_cast<int32_t>(i), .logit = logits[i]};
    if (heap && candidates_.size() == limit) {
      if (!Better(candidate, candidates_.front())) continue;
      std::ranges::pop_heap(candidates_, Better);
      candidates_.pop_back();
    }
    candidates_.push_back(candidate);
    if (heap) std::ranges::push_heap(candidates_, Better);
  }
}

// Drops what min_p or a weight of zero excludes; the sum of what stays.
uint64_t Sampler::CutSmall() {
  const double least = std::max(1.0, options_.min_p * static_cast<double>(kWeightUnit));
  const auto small = [least](const Candidate& candidate) { return static_cast<double>(candidate.weight) < least; };
  std::erase_if(candidates_, small);
  uint64_t sum = 0;
  for (const Candidate& candidate : candidates_) sum += candidate.weight;
  return sum;
}

// Keeps the fewest best candidates whose weights reach `wanted`, at least one; the sum of what stays.
uint64_t Sampler::CutShare(uint64_t wanted) {
  uint64_t sum = Ranked(0).weight;
  size_t kept = 1;
  while (kept < candidates_.size() && sum < wanted) sum += Ranked(kept++).weight;
  candidates_.resize(kept);
  sorted_ = std::min(sorted_, kept);
  return sum;
}

const Candidate& Sampler::Ranked(size_t rank) {
  if (rank >= sorted_) SortTo(std::min(candidates_.size(), std::max(kFirstSorted, 4 * rank)));
  return candidates_[rank];
}

void Sampler::SortTo(size_t count) {
  const auto begin = candidates_.begin() + static_cast<int64_t>(sorted_);
  const auto end = candidates_.begin() + static_cast<int64_t>(count);
  if (end != candidates_.end()) std::nth_element(begin, end, candidates_.end(), Better);
  std::sort(begin, end, Better);
  sorted_ = count;
}

// Fills candidates_ with what may be drawn, ranked as far as needed so far; the sum of its weights.
uint64_t Sampler::Collect(std::span<const double> logits, std::span<const int32_t> tokens) {
  EKVI_CHECK(logits.size() == static_cast<size_t>(vocabulary_));
  CheckLogits(logits, Best(logits), tokens.size());
  const std::span<const double> adjusted = Adjust(logits, tokens);
  const Candidate best = Best(adjusted);
  CheckAllowed(best, tokens.size());
  candidates_.clear();
  sorted_ = 0;
  if (options_.temperature == 0) {
    candidates_.push_back(best);
    return best.weight;
  }
  Select(adjusted, best.logit);
  const uint64_t total = Weigh(candidates_, best.logit, options_.temperature);
  const uint64_t sum = CutSmall();
  if (options_.top_p == 1) return sum;
  return CutShare(static_cast<uint64_t>(options_.top_p * static_cast<double>(total)));
}

std::span<const Candidate> Sampler::Candidates(std::span<const double> logits, std::span<const int32_t> tokens) {
  const base::ScopedFpEnv environment;
  Collect(logits, tokens);
  SortTo(candidates_.size());
  return candidates_;
}

int32_t Sampler::Sample(std::span<const double> logits, std::span<const int32_t> tokens) {
  const base::ScopedFpEnv environment;
  const auto total = static_cast<double>(Collect(logits, tokens));
  // Below `total`, as the uniform number is at most 1 - 2^-53: the walk ends at the last candidate if not before.
  const double target = base::RandomUnit(options_.seed, tokens.size()) * total;
  uint64_t sum = 0;
  size_t rank = 0;
  while (static_cast<double>(sum += Ranked(rank).weight) <= target) ++rank;
  return candidates_[rank].token;
}

}  // namespace ekvi::engine
