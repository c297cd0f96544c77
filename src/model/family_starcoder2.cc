// StarCoder 2: layer norms, biases everywhere, no gate.
#include "model/families.h"

namespace ekvi::model {

constinit const Family kStarcoder2 = {
    .norm = kernels::NormKind::kLayer,
    .gate = false,
    .gguf = {.architecture = "starcoder2", .activation = kernels::Activation::kGeluTanh},
    .hub = {.model_type = "starcoder2",
            .epsilon = "norm_epsilon",
            .activation_otherwise = "gelu_pytorch_tanh",
            .epsilon_otherwise = 1e-5,
            .kv_heads = 2,
            .tied = true,
            .attention_bias = {"use_bias", true},
            .mlp_bias = {"use_bias", true},
            .windows = HubWindows::kAll,
            .names = {.up = "mlp.c_fc", .down = "mlp.c_proj"}},
};

}  // namespace ekvi::model
