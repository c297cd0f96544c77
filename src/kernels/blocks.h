// Products with weights in blocks, in two arithmetics, with the same bits on every target.
//
// float32: each weight's value as numeric::Decode gives it, then the chain of Product: the bits are those of the
// decoded matrix.
//
// int8: activations are rounded to 8 bits, 32 along k sharing a scale, a function of that row alone. For each step of
// 32 inputs, in order, an output's sum becomes
//
//   d_i  = Σ (code − offset) × q              over the 32 or 16 inputs of scale i: exact, in int32
//   t    = float(d_0) × scale_0
//   t    = fma(float(d_1), scale_1, t)        where two scales share the step
//   t    = fma(term_i, float(Σ q), t)         for each i, where the format has minima; Σ over the inputs of scale i
//   sum  = fma(t, activation scale, sum)
//
// with scale and term as in numeric/block_format.h. Continuing a stored sum is the same chain, so cuts of k, rows and
// panels change no bit.
//
// All functions are noexcept, allocate nothing, check nothing, and may be called from any thread with the control word
// of base::ScopedFpEnv. Pointers need no alignment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/block_panel.h"
#include "kernels/kernels.h"

namespace ekvi::kernels {

// 32 activations of a row, rounded: x ≈ scale × q. One line of a cache.
struct Int8Block {
  int8_t q[kStepInputs];
  float scale;
  float sum, half_sums[2];                // Σ q, exact: of all, of the first and the last 16
  int32_t minus_sum, minus_half_sums[2];  // − Σ q likewise, to take off the codes' offset
  int32_t unused;
};
static_assert(sizeof(Int8Block) == 64);

// Rounds x[rows, k] into out[rows, k / 32]: scale = max |x| / 127, q = x × (127 / max |x|) to nearest, ties to even. A
// block whose maximum is below 2^-119 counts as zero; one that holds NaN or infinity gets a scale of NaN and q = 0, so
// that it makes its row NaN and no other.
struct RoundRows {
  const float* x;
  int64_t x_stride;
  Int8Block* out;
  int64_t out_stride;  // in blocks
  int64_t rows, k;     // k a multiple of 32
};

// C[m, n] = A · B, or C += A · B with `accumulate`; B in panels (block_panel.h) from a block's beginning on, k a
// multiple of the format's block. A is float or Int8Block rows.
template <typename A>
struct BlockProduct {
  const A* a;
  int64_t a_stride;  // in A
  const std::byte* b;
  numeric::Format format;
  int64_t panel_bytes;
  float* c;
  int64_t c_stride;
  int64_t m, n, k;
  bool accumulate = false;
};

struct BlockTable {
  void (*product)(const BlockProduct<float>&) noexcept;
  void (*product_int8)(const BlockProduct<Int8Block>&) noexcept;
  void (*round_rows)(const RoundRows&) noexcept;
  // The ceiling, for measurements: `rounds` of independent dot products of bytes in registers; returns the operations
  // done (a multiplication and an addition each). *sink takes the result.
  int64_t (*dot_peak)(int64_t rounds, int32_t* sink) noexcept;
};

// The target's functions. Precondition: TargetAvailable.
const BlockTable& BlockTableFor(Target target);

}  // namespace ekvi::kernels
