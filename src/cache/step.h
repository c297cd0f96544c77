// A step: tokens that continue rows of a cache, and where their logits go. What the engine asks for and a model
// computes.
#pragma once

#include <cstdint>
#include <span>

namespace ekvi {

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

}  // namespace ekvi
