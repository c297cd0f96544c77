// What a decoder computes, as data: one entry for each layer, nothing named after a family of models.
//
// A family (llama.h) fills this in from a file's metadata; the forward pass (decoder.h) obeys it and knows no names.
//
//   hidden = embedding[token] × embedding_scale (+ position table), then for each layer
//     hidden += residual_scale × norm(attention(norm(hidden)))
//     hidden += residual_scale × norm(ffn(norm(hidden)))
//   logits = soft_cap(head(norm(hidden)) × logits_scale)
//
// Each norm is optional.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ekvi/attention.h"
#include "ekvi/cache_layout.h"
#include "kernels/kernels.h"

namespace ekvi::model {

struct NormConfig {
  kernels::NormKind kind = kernels::NormKind::kRms;
  double epsilon = 1e-5;
  bool weight = true;
  bool bias = false;
  bool operator==(const NormConfig&) const = default;
};

// What a norm of queries or keys sees at once: each head, or all heads of a token side by side.
enum class QkNormSpan { kHead, kAllHeads };

// Rotary positions (Su et al., "RoFormer", 2021) of the first `dims` numbers of a head, pairs (i, i + dims / 2). The
// angle at position p is p × base^(-2i / period) / divisors[i]; cosine and sine are multiplied by attention_factor.
// Every published way of stretching the range (rope.h) is a table of divisors.
//
// LongRoPE has two tables. One of them must hold for a whole sequence, or a token's result would depend on how long the
// text becomes: contexts up to short_context take `divisors`, longer ones `long_divisors`.
struct RopeConfig {
  int dims = 0;
  double base = 10000;
  std::vector<double> divisors = {};  // empty: all 1; else [dims / 2]
  double attention_factor = 1;
  int period = 0;                          // 0: dims; one less where an odd share of a head was rounded up
  std::vector<double> long_divisors = {};  // empty: there is one table
  int64_t short_context = 0;               // where long_divisors is not empty
  bool operator==(const RopeConfig&) const = default;
};

// Which matrices of a layer have a bias.
struct BiasConfig {
  bool q = false, k = false, v = false, o = false;
  bool gate = false, up = false, down = false;
};

struct AttentionConfig {
  int q_heads = 1;
  int kv_heads = 1;
  int head_dim_k = 1;
  int head_dim_v = 1;
  std::optional<NormConfig> q_norm = {}, k_norm = {};
  QkNormSpan qk_norm_span = QkNormSpan::kHead;
  std::optional<RopeConfig> rope = {};  // none: this layer does not rotate
  double scale = 0;                     // of scores; 0: 1 / sqrt(head_dim_k)
  int64_t window = 0;                   // 0: everything
  int64_t sink_tokens = 0;
  double soft_cap = 0;                    // of scores; 0: none
  std::vector<double> alibi_slopes = {};  // empty or [q_heads]
  bool sink_logits = false;               // the weights bring one a query head

  int64_t q_width() const { return static_cast<int64_t>(q_heads) * head_dim_k; }
  int64_t k_width() const { return static_cast<int64_t>(kv_heads) * head_dim_k; }
  int64_t v_width() const { return static_cast<int64_t>(kv_heads) * head_dim_v; }
  int64_t out_width() const { return static_cast<int64_t>(q_heads) * head_dim_v; }
};

// Weights of the chosen experts: a softmax over their scores alone (the same as one over all, renormalised), or over
// all experts' scores.
enum class RouterWeights { kSoftmaxOfChosen, kSoftmaxOfAll };

// A mixture (Shazeer et al., 2017): the router's `used` greatest scores of `count` choose experts for a token; of equal
// scores the lower index counts as greater. A choice looks at nothing but the token itself.
struct ExpertsConfig {
  int count = 0;
  int used = 0;
  RouterWeights weights = RouterWeights::kSoftmaxOfChosen;
  bool router_bias = false;
};

// kDense: down(activation(gate(x)) × up(x)), or down(activation(up(x))) without a gate.
// kExperts: the weighted sum of the chosen experts' results, each as kDense, added in the order of their indices.
enum class FeedForwardKind { kDense, kExperts };

struct FeedForwardConfig {
  FeedForwardKind kind = FeedForwardKind::kDense;
  int64_t width = 1;  // of one expert in a mixture
  kernels::Activation activation = kernels::Activation::kSilu;
  bool gate = true;
  double limit = 0, alpha = 0;  // of kernels::Activation::kClampedSwiglu
  ExpertsConfig experts = {};
};

// kParallel: attention and feed-forward both read the hidden state as it was before the layer.
enum class Residual { kSequential, kParallel };

struct LayerConfig {
  std::optional<NormConfig> attention_norm = {}, attention_out_norm = {};  // before the block, and of its output
  std::optional<NormConfig> ffn_norm = {}, ffn_out_norm = {};
  AttentionConfig attention = {};
  FeedForwardConfig ffn = {};
  BiasConfig biases = {};
  Residual residual = Residual::kSequential;
  double residual_scale = 1;
};

struct DecoderConfig {
  int vocabulary = 1;
  int64_t width = 1;              // of the hidden state
  int64_t context = 1;            // positions 0 … context - 1 exist
  int64_t learned_positions = 0;  // rows of the position table; 0: there is none
  double embedding_scale = 1;     // of the token's row, before the position is added
  std::vector<LayerConfig> layers = {};
  std::optional<NormConfig> final_norm = {};
  bool tied_head = false;  // the head is the embedding
  bool head_bias = false;
  double logits_scale = 1;
  double logits_soft_cap = 0;
};

// Throws Error(kInvalidArgument) naming the field ("layers[2].attention.kv_heads"), its value and the range where the
// parts do not fit together or a size is past what ekvi computes: 1,024 layers, heads, head sizes; context 2^24;
// vocabulary 2^22.
void Validate(const DecoderConfig& config);

// The cache this decoder fills.
CacheLayout LayoutOf(const DecoderConfig& config, DType dtype_k, DType dtype_v);

// The attention of layer `layer`; sink_logits are the weights'.
AttentionLayer AttentionOf(const AttentionConfig& config, std::vector<double> sink_logits);

}  // namespace ekvi::model
