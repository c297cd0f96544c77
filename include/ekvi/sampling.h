// How the next token is chosen from logits, and when generation ends.
//
// What is chosen is a function of the logits, the tokens before, the options and the token's absolute position: neither
// batch, chunking, cache nor threads change it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ekvi {

// Applied in this order: bias, repetition penalty, temperature, top-k, top-p, min-p, then one draw. The draw for a
// token depends on the seed and its absolute position only. Of equal logits the smaller id counts as the better one,
// throughout.
struct SamplingOptions {
  double temperature = 0.8;  // ≥ 0; 0: the greatest logit after bias and penalty, nothing is drawn
  int top_k = 40;            // ≥ 0, the best so many; 0: all
  double top_p = 0.95;       // 0 … 1, the fewest best tokens that have this share together, at least one; 1: all
  double min_p = 0.05;       // 0 … 1, tokens with at least this share of the best one's probability; 0: all
  double repetition_penalty = 1.0;  // > 0; divides positive and multiplies negative logits of recent tokens, once each
                                    // (after Keskar et al., "CTRL", 2019, section 4.1, which divides all of them)
  int repetition_window = 64;       // ≥ 0, recent tokens looked at, the prompt's included; 0: all
  std::vector<std::pair<int32_t, double>> logit_bias = {};  // token, added value; -inf forbids; NaN, +inf refused
  uint64_t seed = 0;
};

// A stop string ends the text before its first byte and is never part of the output. The one that is complete first
// ends generation; of several complete at the same byte, the longest. No token is computed after it.
struct StopOptions {
  int64_t max_tokens = 256;               // ≥ 0
  bool ignore_end = false;                // go on after the model's end tokens
  std::vector<int32_t> tokens = {};       // besides the model's end tokens; like those, they give no text
  std::vector<std::string> strings = {};  // UTF-8, not empty; matched in the text, across token borders
};

// Throws Error(kInvalidArgument) naming the option, its value and the range.
void CheckSampling(const SamplingOptions& options, int vocabulary);
void CheckStops(const StopOptions& options, int vocabulary);

}  // namespace ekvi
