// Qwen2 (also 2.5: biases of q, k, v), Qwen3 (norms of q and k, by head) and its mixture.
#include "model/families.h"

namespace ekvi::model {

constinit const Family kQwen2 = {
    .gguf = {.architecture = "qwen2"},
    .hub = {.model_type = "qwen2",
            .kv_heads = 32,
            .attention_bias = {.otherwise = true},
            .output_bias = false,
            .windows = HubWindows::kQwen,
            .window = 4096},
};

constinit const Family kQwen3 = {
    .qk_norm = QkNormSpan::kHead,
    .gguf = {.architecture = "qwen3"},
    .hub = {.model_type = "qwen3",
            .head_dim = 128,
            .kv_heads = 32,
            .attention_bias = {"attention_bias"},
            .windows = HubWindows::kQwen,
            .window = 4096},
};

constinit const Family kQwen3Moe = {
    .qk_norm = QkNormSpan::kHead,
    .gguf = {.architecture = "qwen3moe"},
    .hub = {.model_type = "qwen3_moe",
            .kv_heads = 4,
            .attention_bias = {"attention_bias"},
            .windows = HubWindows::kSwitched,
            .window = 4096,
            .mixture = true,
            .expert_ffn = "moe_intermediate_size",
            .renormalised = false},
};

}  // namespace ekvi::model
