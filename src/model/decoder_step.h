// What a decoder is asked to do in one step, and whether it may.
#pragma once

#include <cstdint>
#include <span>

#include "ekvi/cache.h"
#include "model/config.h"

namespace ekvi::model {

// One row's part of a step: tokens that continue cache row `row`, and how many of the last ones want logits.
struct StepRow {
  int row = 0;
  std::span<const int32_t> tokens;
  int64_t logits_count = 0;  // 0 … tokens.size()
};

// Where logits go: [sum of logits_count, vocabulary], rows in the order of the step. Exactly one pointer is set where
// any row wants logits. Float32 arithmetic widens to double exactly; float64 rounds to float.
struct LogitsOut {
  float* f32 = nullptr;
  double* f64 = nullptr;
};

// Throws where a step cannot be done: kInvalidArgument for a token outside the vocabulary (with row and index), a row
// outside the cache or named twice, a cache of another layout (naming both), a logits_count past the tokens, logits
// wanted without exactly one place for them; kCapacity for positions past the model's context, with the numbers.
void CheckStep(const DecoderConfig& config, const CacheLayout& layout, const KvCache& cache,
               std::span<const StepRow> rows, const LogitsOut& out);

}  // namespace ekvi::model
