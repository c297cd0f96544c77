// Chooses the next token of a sequence from its logits (ekvi/sampling.h says by which rules).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ekvi/sampling.h"
#include "engine/candidate.h"

namespace ekvi::engine {

// One thread at a time. All memory is taken by the constructor: 9 bytes per token of the vocabulary for bias and
// penalty, 24 per possible candidate (top_k of them, else the vocabulary). Time: one pass over the logits; without
// top_k one exponential for each; sorted is only what can be drawn, as far as the draw goes.
class Sampler {
 public:
  // So many weights have a sum that cannot overflow.
  static constexpr int kVocabularyMax = 1 << 23;

  // Errors: as CheckSampling; kUnsupported for more than kVocabularyMax tokens.
  Sampler(const SamplingOptions& options, int vocabulary);

  // The token that follows `tokens` (all of the sequence so far: their count is the new token's absolute position),
  // given logits[vocabulary]. Precondition (checked): that size; the tokens lie inside the vocabulary. Errors: kCorrupt
  // where a logit is NaN or +inf, or all are -inf, with the position; kInvalidArgument where the bias leaves no token.
  int32_t Sample(std::span<const double> logits, std::span<const int32_t> tokens);

  // The tokens that Sample draws from, best first, valid until the next call; errors as Sample. With temperature 0 it
  // is the one token.
  std::span<const Candidate> Candidates(std::span<const double> logits, std::span<const int32_t> tokens);

  const SamplingOptions& options() const { return options_; }

 private:
  uint64_t Collect(std::span<const double> logits, std::span<const int32_t> tokens);
  std::span<const double> Adjust(std::span<const double> logits, std::span<const int32_t> tokens);
  void Penalize(std::span<const int32_t> recent);
  void Select(std::span<const double> logits, double best);
  uint64_t CutSmall();
  uint64_t CutShare(uint64_t wanted);
  const Candidate& Ranked(size_t rank);
  void SortTo(size_t count);

  SamplingOptions options_;
  int vocabulary_;
  std::vector<double> adjusted_;       // [vocabulary] where bias or penalty are on, else empty
  std::vector<uint8_t> penalized_;     // [vocabulary] where the penalty is on; all zero between calls
  std::vector<Candidate> candidates_;  // capacity fixed
  size_t sorted_ = 0;                  // the first so many candidates are the best ones, in order
};

}  // namespace ekvi::engine
