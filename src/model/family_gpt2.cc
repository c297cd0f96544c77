// GPT-2: learned positions, layer norms, q, k, v in one matrix that is stored [inputs, outputs] in folders.
#include <cmath>

#include "model/families.h"
#include "model/hub_keys.h"

namespace ekvi::model {
namespace {

void MoreFromHub(const HubKeys& keys, Settings& settings) {
  keys.RefuseTrue("add_cross_attention", "there is no encoder to attend to");
  const bool by_layer = keys.Flag("scale_attn_by_inverse_layer_idx", false);
  const bool by_size = keys.Flag("scale_attn_weights", true);
  if (by_size && !by_layer) return;
  for (int64_t i = 0; i < settings.layers; ++i) {
    const double scale = by_size ? 1 / std::sqrt(static_cast<double>(settings.head_dim_k)) : 1;
    settings.score_scales[i] = by_layer ? scale / static_cast<double>(i + 1) : scale;
  }
}

}  // namespace

constinit const Family kGpt2 = {
    .norm = kernels::NormKind::kLayer,
    .rotary = false,
    .gate = false,
    .learned_positions = true,
    .gguf = {.architecture = "gpt2", .activation = kernels::Activation::kGeluTanh},
    .hub = {.model_type = "gpt2",
            .width = "n_embd",
            .layers = "n_layer",
            .heads = "n_head",
            .context = "n_positions",
            .ffn = "n_inner",
            .activation = "activation_function",
            .epsilon = "layer_norm_epsilon",
            .activation_otherwise = "gelu_new",
            .epsilon_otherwise = 1e-5,
            .ffn_widths = 4,
            .tied = true,
            .attention_bias = {.otherwise = true},
            .mlp_bias = {.otherwise = true},
            .names = {.prefix = "transformer.",
                      .embedding = "wte",
                      .positions = "wpe",
                      .final_norm = "ln_f",
                      .layer = "h.{}.",
                      .attention_norm = "ln_1",
                      .ffn_norm = "ln_2",
                      .fused = FusedQkv::kBlocks,
                      .qkv = "attn.c_attn",
                      .o = "attn.c_proj",
                      .up = "mlp.c_fc",
                      .down = "mlp.c_proj",
                      .storage = MatrixStorage::kInputRows},
            .more = MoreFromHub},
};

}  // namespace ekvi::model
