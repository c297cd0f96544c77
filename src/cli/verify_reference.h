// Comparison with numbers that others computed: the modes --golden and --expect of `ekvi verify`.
#pragma once

#include "cli/arguments.h"
#include "cli/console.h"

namespace ekvi::cli {

// What a comparison may differ by where --tol does not say: float64 attention and decoder of reference vectors; logits
// of a whole model in float64 and in float32 arithmetic.
inline constexpr double kAttentionTolerance = 1e-12;
inline constexpr double kDecoderTolerance = 1e-10;
inline constexpr double kLogitsToleranceF64 = 1e-6;
inline constexpr double kLogitsToleranceF32 = 2e-3;
// Of the largest logit: what 8-bit activations cost at most on the models they were measured on (docs/measurements.md).
inline constexpr double kLogitsShareInt8 = 0.06;

// Print their findings and return kOk, or throw ExitError (kMismatch) after printing.
int RunGolden(const Arguments& arguments, Console& console);
int RunExpect(const Arguments& arguments, Console& console);

}  // namespace ekvi::cli
