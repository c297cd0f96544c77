// GPT-NeoX and Pythia: attention and feed-forward side by side, a share of each head rotates, q, k, v in one matrix
// head by head in folders. GGUF files do not say which GELU; the models have the exact one.
#include "model/families.h"
#include "model/gguf_keys.h"
#include "model/hub_keys.h"

namespace ekvi::model {
namespace {

Residual ResidualOf(bool parallel) { return parallel ? Residual::kParallel : Residual::kSequential; }

void MoreFromGguf(const GgufKeys& keys, Settings& settings) {
  settings.residual = ResidualOf(keys.Flag("use_parallel_residual", true));
}

void MoreFromHub(const HubKeys& keys, Settings& settings) {
  settings.residual = ResidualOf(keys.Flag("use_parallel_residual", true));
}

}  // namespace

constinit const Family kGptNeox = {
    .norm = kernels::NormKind::kLayer,
    .gate = false,
    .gguf = {.architecture = "gptneox", .activation = kernels::Activation::kGeluErf, .more = MoreFromGguf},
    .hub = {.model_type = "gpt_neox",
            .epsilon = "layer_norm_eps",
            .activation_otherwise = "gelu",
            .epsilon_otherwise = 1e-5,
            .attention_bias = {"attention_bias", true},
            .mlp_bias = {.otherwise = true},
            .rope_theta = "rotary_emb_base",
            .rope_share = "rotary_pct",
            .share = 0.25,
            .names = {.prefix = "gpt_neox.",
                      .embedding = "embed_in",
                      .final_norm = "final_layer_norm",
                      .head = "embed_out",
                      .fused = FusedQkv::kHeads,
                      .qkv = "attention.query_key_value",
                      .o = "attention.dense",
                      .up = "mlp.dense_h_to_4h",
                      .down = "mlp.dense_4h_to_h"},
            .more = MoreFromHub},
};

}  // namespace ekvi::model
