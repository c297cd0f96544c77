// The arithmetic of ekvi: pure functions on views, one table of them per vector target, with the same bits in each.
//
// A vector is 16 lanes on every target (one AVX-512 register of float, two AVX2 registers, an array in scalar code).
// An output element is one chain of fused multiply-adds in a fixed order; lanes are output columns or keys, so that
// nothing is reduced across lanes but the sums of norms and softmax, which use one fixed tree (16 → 8 → 4 → 2 → 1).
//
// All functions are noexcept, allocate nothing, check nothing, and may be called from any thread with the control word
// of base::ScopedFpEnv. Pointers need no alignment. T is float or double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ekvi/dtype.h"
#include "numeric/block_format.h"

namespace ekvi::kernels {

// Keys per chunk of the law (docs/law.md, habit 2): each chunk of absolute positions starts from a fresh softmax state.
inline constexpr int kChunkKeys = 256;
// Lanes of a vector, keys of a tile, columns of a panel.
inline constexpr int kLanes = 16;

// C[m, n] = A[m, k] · B[k, n], or C += A · B with `accumulate`: continuing a chain from a stored partial sum is the
// same chain, so cutting k changes no bit. B lies in panels of 16 columns: element (kk, nn) at b + (nn / 16) ×
// panel_bytes + kk × 16 × size + (nn % 16) × size; columns past n in the last panel are readable and ignored. T =
// double takes kF64 only; T = float takes kF32, kF16, kBF16. Weights in blocks: blocks.h.
template <typename T>
struct Product {
  const T* a;
  int64_t a_stride;
  const std::byte* b;
  numeric::Format format;
  int64_t panel_bytes;
  T* c;
  int64_t c_stride;
  int64_t m, n, k;
  bool accumulate = false;
};

// scores[m, 16 × tile_count] = Q[m, d] · K^T, K in interleaved tiles [d][16] at tiles[i]. ahead[i], where given, is a
// tile that will be read soon: it is fetched into the second cache meanwhile, at no place that changes a result.
// Without it, a few rows take tile after tile, and the hardware fetches what follows in memory.
template <typename T>
struct Scores {
  const T* q;
  int64_t q_stride;
  const std::byte* const* tiles;
  DType k_type;
  T* scores;
  int64_t scores_stride;
  int64_t m, d, tile_count;
  const std::byte* const* ahead = nullptr;
};

// out[m, d] += P[m, keys begin … end) · V, the chain continued in the order of keys; V in tiles [16][d] at tiles[key /
// 16]. With `fresh` the chain starts from zero instead of from out. ahead[tile] as for scores.
template <typename T>
struct Outputs {
  const T* p;
  int64_t p_stride;
  const std::byte* const* tiles;
  DType v_type;
  T* out;
  int64_t out_stride;
  int64_t m, d, begin, end;
  bool fresh = false;
  const std::byte* const* ahead = nullptr;
};

// A tile of 16 tokens' keys from token-major k[tokens, d] into interleaved out[d, 16]; slots past `tokens` become zero.
template <typename T>
struct PackKeys {
  const std::byte* k;
  DType k_type;
  int64_t d, tokens;
  T* out;
};

// Keys of a chunk that one query sees: [begin, end) within the chunk.
struct KeyRange {
  int begin, end;
};

// Turns the raw scores of one query in one chunk into probabilities, in place: scale, soft cap, ALiBi, maximum, exp,
// sum. Only keys in the ranges (ascending, disjoint, not empty) are looked at; other slots hold anything afterwards.
// max is the largest score (-inf where all are -inf), sum = Σ exp(score − max).
template <typename T>
struct SoftmaxRow {
  T* scores;
  T scale;
  T soft_cap;        // 0: none
  T slope;           // ALiBi: + slope × (key − query)
  int64_t distance;  // position of the chunk's first key − position of the query
  KeyRange ranges[2];
  int range_count;
  T* max;
  T* sum;
};

// A state of the online softmax: (max, sum, out[d]).
template <typename T>
struct State {
  T* max;
  T* sum;
  T* out;
};

enum class NormKind { kRms, kLayer };

// Rows of x[rows, width] normalised into out[rows, width] (may be x): RMS x / sqrt(mean(x²) + epsilon), layer norm with
// mean and variance; then × weight and + bias, where given.
template <typename T>
struct Norm {
  NormKind kind;
  const T* x;
  int64_t x_stride;
  T* out;
  int64_t out_stride;
  int64_t rows, width;
  const T* weight;  // [width] or null
  const T* bias;    // [width] or null
  T epsilon;
};

// Rotates x[heads, dims] in place by the angles of one position: pairs (i, i + dims / 2), cos and sin [dims / 2].
template <typename T>
struct Rotate {
  T* x;
  int64_t head_stride;
  int64_t heads, dims;
  const T* cos;
  const T* sin;
};

// kClampedSwiglu (gpt-oss): with g = min(x, limit) and u = up within ± limit, g × sigmoid(alpha × g) × (u + 1).
enum class Activation { kSilu, kGeluTanh, kGeluErf, kRelu, kClampedSwiglu };

// out[i] = activation(x[i]), × up[i] where given (kClampedSwiglu always has one).
template <typename T>
struct Activate {
  Activation kind;
  const T* x;
  const T* up;  // or null
  T* out;
  int64_t count;
  T limit = 0, alpha = 0;  // of kClampedSwiglu
};

template <typename T>
struct Table {
  void (*product)(const Product<T>&) noexcept;
  void (*scores)(const Scores<T>&) noexcept;
  void (*outputs)(const Outputs<T>&) noexcept;
  void (*pack_keys)(const PackKeys<T>&) noexcept;
  void (*softmax)(const SoftmaxRow<T>* rows, int64_t count) noexcept;
  // into = merge(into, next), `into` the earlier keys. Not defined for a state without keys: skip those.
  void (*merge)(State<T> into, State<const T> next, int64_t d) noexcept;
  // out[d] = state.out / state.sum. A sum of zero (all scores -inf) leaves state.out: zero then, or NaN where a
  // value is not finite.
  void (*finish)(State<const T> state, T* out, int64_t d) noexcept;
  void (*norm)(const Norm<T>&) noexcept;
  void (*rotate)(const Rotate<T>&) noexcept;
  void (*activate)(const Activate<T>&) noexcept;
  // x[i] = x[i] + scale × y[i], one fused operation.
  void (*add_scaled)(T* x, const T* y, T scale, int64_t count) noexcept;
  // x[i] = x[i] × scale.
  void (*scale)(T* x, T scale, int64_t count) noexcept;
  // x[i] = cap × tanh(x[i] / cap).
  void (*soft_cap)(T* x, T cap, int64_t count) noexcept;
  // The ceiling, for measurements: `rounds` of independent multiply-adds in registers; returns the floating-point
  // operations done. *sink takes the result, so that nothing is optimised away.
  int64_t (*fma_peak)(int64_t rounds, T* sink) noexcept;
  // Likewise for reading: loads all lines of `bytes` bytes, a multiple of 256. Returns a sum of what it read.
  T (*read_peak)(const std::byte* from, int64_t bytes) noexcept;
};

enum class Target { kScalar, kAvx2, kAvx2Vnni, kAvx512, kAvx512Vnni };

// All of them, each better than those before it.
inline constexpr Target kTargets[] = {Target::kScalar, Target::kAvx2, Target::kAvx2Vnni, Target::kAvx512,
                                      Target::kAvx512Vnni};

std::string_view TargetName(Target target);
// Whether this machine runs it; kScalar always.
bool TargetAvailable(Target target);
// "scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni", or "" for the best one here. Errors: kInvalidArgument for
// another name, kUnsupported where the machine lacks it (naming what it has).
Target ParseTarget(std::string_view name);

// The target's functions. Precondition: TargetAvailable.
template <typename T>
const Table<T>& TableFor(Target target);

}  // namespace ekvi::kernels
