// Grouped attention of new tokens over a key/value cache: plan once per step, run once per layer.
//
// For query head h of a token at absolute position i, with KV head h / (q_heads / kv_heads):
//   score(j) = scale × (q · k_j), then soft_cap × tanh(score / soft_cap), then + alibi_slope[h] × (j − i);
//   visible j: 0 … i, cut to the last `window` positions where window > 0, and the first sink_tokens positions besides;
//   out = Σ_j exp(score(j) − m) v_j / (Σ_j exp(score(j) − m) + exp(sink_logit[h] − m)).
// A token that sees no key gets exactly zero. Positions it may not see never enter the arithmetic: NaN there changes
// nothing. NaN in a live q, k or v reaches that token only, and stays NaN.
//
// The law: the bits of an output depend on q, the visible keys and values, and their positions, and on nothing else:
// not on how tokens are cut into steps, on other rows, storage, block order, threads or vector width (docs/law.md).
// Softmax over chunks and their merge: Rabe and Staats, "Self-attention Does Not Need O(n^2) Memory" (2021), with
// chunks at absolute multiples of 256 keys; grouped heads: Ainslie et al., "GQA" (2023).
//
// Numerics: float64 queries need a float64 cache; float32 queries read float32, float16, bfloat16 caches and stay
// within vmax · 2^-24 · (16 + 8 · Smax) of the float64 result, Smax the largest |score|.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ekvi/cache.h"

namespace ekvi {

// One layer's attention. kv_heads and head sizes come from the cache's layout.
struct AttentionLayer {
  int q_heads = 1;                   // a multiple of the layer's kv_heads
  double scale = 0;                  // 0: 1 / sqrt(head_dim_k)
  int64_t window = 0;                // visible keys, the own token included; 0: all
  int64_t sink_tokens = 0;           // the first positions, visible beside the window
  double soft_cap = 0;               // 0: none
  std::vector<double> alibi_slopes;  // empty or [q_heads]
  std::vector<double> sink_logits;   // empty or [q_heads]: one more term of the denominator
};

// Queries and outputs, strided: token t of the row that begins at `row_offset`, head h, dimension d is
// data[row_offset + t × token_stride + h × head_stride + d], in elements. Outputs likewise with head_dim_v.
template <typename T>
struct HeadArray {
  T* data;
  int64_t token_stride;
  int64_t head_stride;
};

struct AttentionSettings {
  int threads = 0;          // 0: as many as the machine grants this process
  std::string_view target;  // "scalar", "avx2", "avx2_vnni", "avx512", "avx512_vnni"; empty: the best of this machine
};

// Not copyable; one thread at a time. Plan and Run allocate nothing once the sizes of a step have been seen.
class Attention {
 public:
  // `layers` in the order of the cache's layers. Errors (kInvalidArgument): another number of layers than the layout,
  // keys or values alone in float64, q_heads no multiple of kv_heads, a slope or sink array of another length, negative
  // or non-finite options, an unknown target; kUnsupported: a target this machine lacks.
  Attention(const CacheLayout& layout, std::vector<AttentionLayer> layers, const AttentionSettings& settings = {});
  ~Attention();
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  // Cuts the step into tasks. Row r's first query lies at row_offset[r] (q) and out_offset[r] (out), in elements.
  // Errors (kInvalidArgument): the append's cache has another layout, not one offset per row. The plan is valid until
  // the append ends: Run after that reads what the cache then holds.
  void Plan(const Append& append, std::span<const int64_t> q_offset, std::span<const int64_t> out_offset);

  // Computes one layer after its keys and values have been written to the append. Element types: double over a kF64
  // cache, float over the others. Errors (kInvalidArgument): the other type, no such layer, no Plan yet.
  void Run(int layer, HeadArray<const float> q, HeadArray<float> out);
  void Run(int layer, HeadArray<const double> q, HeadArray<double> out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ekvi
