// gpt-oss: experts with a clamped activation and biases, alternating windows, learned sinks, YaRN whose ramp is not
// rounded to whole pairs (GGUF has no key for that).
#include "model/families.h"
#include "model/gguf_keys.h"
#include "model/hub_keys.h"

namespace ekvi::model {
namespace {

constexpr double kLimit = 7, kAlpha = 1.702;

void MoreFromGguf(const GgufKeys&, Settings& settings) { settings.limit = kLimit, settings.alpha = kAlpha; }

void MoreFromHub(const HubKeys& keys, Settings& settings) {
  settings.activation = kernels::Activation::kClampedSwiglu;  // whatever hidden_act says
  settings.limit = keys.Number("swiglu_limit", kScaleRange, kLimit);
  settings.alpha = keys.Number("swiglu_alpha", kScaleRange, kAlpha);
  if (keys.Has("rope_parameters") || keys.Has("rope_scaling")) return;
  // What the reference takes where the file does not say.
  const YarnScaling yarn{.factor = 32, .original_context = 4096, .ramp = YarnRamp::kExact};
  for (std::optional<RopeConfig>& rope : settings.ropes) {
    rope->divisors = YarnDivisors(rope->dims, rope->base, yarn);
    rope->attention_factor = YarnAttentionFactor(yarn.factor);
  }
}

}  // namespace

constinit const Family kGptOss = {
    .sink_logits = true,
    .router_bias = true,
    .gguf = {.architecture = "gpt-oss",
             .activation = kernels::Activation::kClampedSwiglu,
             .full_every = 2,
             .ramp = YarnRamp::kExact,
             .ffn_norm = "post_attention_norm",
             .more = MoreFromGguf},
    .hub = {.model_type = "gpt_oss",
            .epsilon_otherwise = 1e-5,
            .head_dim = 64,
            .kv_heads = 8,
            .attention_bias = {"attention_bias", true},
            .mlp_bias = {.otherwise = true},
            .windows = HubWindows::kLayerTypes,
            .full_every = 2,
            .window = 128,
            .theta = 150000,
            .mixture = true,
            .names = {.router = "mlp.router", .interleaved_experts = true, .sinks = "self_attn.sinks"},
            .more = MoreFromHub},
};

}  // namespace ekvi::model
