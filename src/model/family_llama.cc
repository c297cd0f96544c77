// Llama 2 and 3, and what is built like them: Mistral (a window in every layer) and Mixtral (experts). GGUF has one
// architecture for all three.
#include "model/families.h"

namespace ekvi::model {

constinit const Family kLlama = {
    .gguf = {.architecture = "llama", .pairs = true},
    .hub = {.model_type = "llama", .attention_bias = {"attention_bias"}, .mlp_bias = {"mlp_bias"}},
};

constinit const Family kMistral = {
    .hub = {.model_type = "mistral", .kv_heads = 8, .windows = HubWindows::kAll, .window = 4096},
};

constinit const Family kMixtral = {
    .hub = {.model_type = "mixtral",
            .epsilon_otherwise = 1e-5,
            .kv_heads = 8,
            .windows = HubWindows::kAll,
            .theta = 1e6,
            .mixture = true,
            .names = {.router = "block_sparse_moe.gate",
                      .experts = "block_sparse_moe.experts.",
                      .expert_gate = "w1",
                      .expert_up = "w3",
                      .expert_down = "w2"}},
};

}  // namespace ekvi::model
