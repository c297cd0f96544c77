#include "model/family.h"

#include <cmath>

#include "model/families.h"

namespace ekvi::model {
namespace {

constexpr const Family* kFamilies[] = {&kGpt2,       &kLlama,   &kMistral, &kMixtral, &kQwen2, &kQwen3,
                                       &kQwen3Moe,   &kGemma,   &kGemma2,  &kGemma3,  &kPhi3,  &kOlmo2,
                                       &kStarcoder2, &kGptNeox, &kSmolLm3, &kGptOss};

AttentionConfig AttentionAt(const Family& family, const Settings& s, const NormConfig& norm, int64_t i) {
  AttentionConfig a{.q_heads = static_cast<int>(s.q_heads[i]),
                    .kv_heads = static_cast<int>(s.kv_heads[i]),
                    .head_dim_k = static_cast<int>(s.head_dim_k),
                    .head_dim_v = static_cast<int>(s.head_dim_v)};
  if (family.qk_norm) {
    a.q_norm = a.k_norm = norm;
    a.qk_norm_span = *family.qk_norm;
  }
  a.rope = s.ropes[i];
  a.scale = s.score_scales[i];
  a.window = s.windows[i];
  a.soft_cap = s.score_cap;
  a.sink_logits = family.sink_logits;
  return a;
}

FeedForwardConfig FeedForwardAt(const Family& family, const Settings& s, int64_t i) {
  return {.kind = s.experts[i].count > 0 ? FeedForwardKind::kExperts : FeedForwardKind::kDense,
          .width = s.ffn[i],
          .activation = s.activation,
          .gate = family.gate,
          .limit = s.limit,
          .alpha = s.alpha,
          .experts = s.experts[i]};
}

}  // namespace

DecoderConfig ConfigOf(const Family& family, const Settings& s) {
  const NormConfig norm{
      .kind = family.norm, .epsilon = s.epsilon, .weight = true, .bias = family.norm == kernels::NormKind::kLayer};
  DecoderConfig config{.vocabulary = static_cast<int>(s.vocabulary), .width = s.width, .context = s.context};
  config.learned_positions = s.learned_positions;
  if (family.root_scaled_embedding) config.embedding_scale = std::sqrt(static_cast<double>(s.width));
  config.final_norm = norm;
  config.tied_head = s.tied;
  config.logits_soft_cap = s.logits_cap;
  for (int64_t i = 0; i < s.layers; ++i) {
    LayerConfig layer;
    if (family.norms != NormPlaces::kAfter) layer.attention_norm = layer.ffn_norm = norm;
    if (family.norms != NormPlaces::kBefore) layer.attention_out_norm = layer.ffn_out_norm = norm;
    layer.attention = AttentionAt(family, s, norm, i);
    layer.ffn = FeedForwardAt(family, s, i);
    layer.biases = s.biases[i];
    layer.residual = s.residual;
    config.layers.push_back(std::move(layer));
  }
  return config;
}

std::span<const Family* const> Families() { return kFamilies; }

}  // namespace ekvi::model
