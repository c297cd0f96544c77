// Gemma, Gemma 2 and Gemma 3 (text): embeddings scaled by the root of their width, norm weights stored less 1 in
// folders, GELU gates. Gemma 2 has norms after the blocks too, soft caps and windows in every other layer; Gemma 3
// norms of q and k, windows in five layers of six, and another rope for those.
#include <cmath>

#include "model/families.h"
#include "model/gguf_keys.h"
#include "model/hub_keys.h"

namespace ekvi::model {
namespace {

void ScaleAll(Settings& settings, double divisor) {
  settings.score_scales.assign(settings.layers, 1 / std::sqrt(divisor));
}

// The published files of 27 billion parameters have no key for their scale, which is not that of the head size: the
// number of layers tells them.
void ScaleOf27B(const GgufKeys& keys, Settings& settings, int64_t layers) {
  if (settings.layers == layers && !keys.Has("attention.scale"))
    ScaleAll(settings, static_cast<double>(settings.width) / static_cast<double>(settings.q_heads[0]));
}

void Gemma2FromGguf(const GgufKeys& keys, Settings& settings) {
  settings.score_cap = keys.Number("attn_logit_softcapping", kScaleRange, 50);
  settings.logits_cap = keys.Number("final_logit_softcapping", kScaleRange, 30);
  ScaleOf27B(keys, settings, 46);
}

void Gemma3FromGguf(const GgufKeys& keys, Settings& settings) {
  const double local = keys.Number("rope.freq_base_swa", kRopeBaseRange, 10000);
  for (int64_t i = 0; i < settings.layers; ++i) {
    if (settings.windows[i] > 0) settings.ropes[i] = RopeConfig{.dims = settings.ropes[i]->dims, .base = local};
  }
  ScaleOf27B(keys, settings, 62);
}

void GemmaFromHub(const HubKeys& keys, Settings& settings) {
  keys.RefuseTrue("use_bidirectional_attention", "only causal attention is computed");
  // "gelu" in the first releases' files means the form with tanh.
  if (settings.activation == kernels::Activation::kGeluErf) settings.activation = kernels::Activation::kGeluTanh;
}

void LaterFromHub(const HubKeys& keys, Settings& settings) {
  keys.RefuseTrue("use_bidirectional_attention", "only causal attention is computed");
  ScaleAll(settings, keys.Number("query_pre_attn_scalar", kScaleRange, 256));
}

void Gemma2FromHub(const HubKeys& keys, Settings& settings) {
  LaterFromHub(keys, settings);
  settings.score_cap = keys.CapOrNone("attn_logit_softcapping", 50);
  settings.logits_cap = keys.CapOrNone("final_logit_softcapping", 30);
}

void Gemma3FromHub(const HubKeys& keys, Settings& settings) {
  LaterFromHub(keys, settings);  // the reference has no use for attn_logit_softcapping here
  settings.logits_cap = keys.CapOrNone("final_logit_softcapping", 0);
}

}  // namespace

constinit const Family kGemma = {
    .root_scaled_embedding = true,
    .gguf = {.architecture = "gemma", .activation = kernels::Activation::kGeluTanh},
    .hub = {.model_type = "gemma",
            .activation_otherwise = "gelu_pytorch_tanh",
            .head_dim = 256,
            .kv_heads = 16,
            .tied = true,
            .attention_bias = {"attention_bias"},
            .norm_shift = 1,
            .more = GemmaFromHub},
};

constinit const Family kGemma2 = {
    .norms = NormPlaces::kBoth,
    .root_scaled_embedding = true,
    .gguf = {.architecture = "gemma2",
             .activation = kernels::Activation::kGeluTanh,
             .full_every = 2,
             .attention_out_norm = "post_attention_norm",
             .ffn_out_norm = "post_ffw_norm",
             .more = Gemma2FromGguf},
    .hub = {.model_type = "gemma2",
            .activation = "hidden_activation",
            .activation_otherwise = "gelu_pytorch_tanh",
            .head_dim = 256,
            .kv_heads = 4,
            .tied = true,
            .attention_bias = {"attention_bias"},
            .windows = HubWindows::kLayerTypes,
            .full_every = 2,
            .window = 4096,
            .norm_shift = 1,
            .names = {.attention_out_norm = "post_attention_layernorm",
                      .ffn_norm = "pre_feedforward_layernorm",
                      .ffn_out_norm = "post_feedforward_layernorm"},
            .more = Gemma2FromHub},
};

constinit const Family kGemma3 = {
    .norms = NormPlaces::kBoth,
    .qk_norm = QkNormSpan::kHead,
    .root_scaled_embedding = true,
    .gguf = {.architecture = "gemma3",
             .activation = kernels::Activation::kGeluTanh,
             .full_every = 6,
             .attention_out_norm = "post_attention_norm",
             .ffn_out_norm = "post_ffw_norm",
             .more = Gemma3FromGguf},
    .hub = {.model_type = "gemma3_text",
            .activation = "hidden_activation",
            .activation_otherwise = "gelu_pytorch_tanh",
            .head_dim = 256,
            .kv_heads = 4,
            .tied = true,
            .attention_bias = {"attention_bias"},
            .windows = HubWindows::kLayerTypes,
            .full_every = 6,
            .full_every_key = "sliding_window_pattern",
            .window = 4096,
            .theta = 1e6,
            .local_theta = "rope_local_base_freq",
            .norm_shift = 1,
            .names = {.attention_out_norm = "post_attention_layernorm",
                      .ffn_norm = "pre_feedforward_layernorm",
                      .ffn_out_norm = "post_feedforward_layernorm"},
            .more = Gemma3FromHub},
};

}  // namespace ekvi::model
