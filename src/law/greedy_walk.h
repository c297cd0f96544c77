// Greedy text twice, with a cache and recomputed from nothing at every step: the price of no cache, and the same
// logits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "law/reference.h"
#include "law/subject.h"

namespace ekvi::law {

// Tokens of a text that its greedy continuation starts from.
inline constexpr int64_t kGreedyPrompt = 8;

class GreedyWalk {
 public:
  // Continues `prompt` by `steps` tokens, fewer where the model's context ends.
  GreedyWalk(const Subject& subject, std::span<const int32_t> prompt, int64_t steps);

  int64_t steps() const { return steps_; }
  // The first step whose logits differ, in words; empty where none does.
  const std::string& difference() const { return difference_; }

 private:
  int64_t steps_;
  std::string difference_;
};

// The greatest logit of row `position`, the smallest id among equals.
int32_t GreedyToken(const LogitsBlock& logits, int64_t position);

}  // namespace ekvi::law
