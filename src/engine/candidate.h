// A token that may be drawn, its rank among others and its weight.
#pragma once

#include <cstdint>
#include <span>

namespace ekvi::engine {

// Weights are integers, so that their sums are exact and the same in any order: 2^40 parts of the best token's weight.
// A token below 2^-41 of the best one has none; the weights of 2^23 tokens together fit 63 bits.
inline constexpr uint64_t kWeightUnit = uint64_t{1} << 40;

struct Candidate {
  int32_t token = 0;
  double logit = 0;     // after bias and penalty
  uint64_t weight = 0;  // its share of all weights is its probability
};

// The ranking: greater logits first, of equal ones the smaller id.
inline bool Better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// Gives each candidate the weight exp((logit - best) / temperature), rounded to 1 / kWeightUnit, and returns their sum.
// Preconditions: no logit is above `best`, temperature > 0, at most 2^23 candidates. The same bits on every machine.
uint64_t Weigh(std::span<Candidate> candidates, double best, double temperature);

}  // namespace ekvi::engine
