// Phi-3, 3.5 and 4 mini: q, k, v in one matrix, gate and up in another; a share of a head may rotate; LongRoPE.
#include "model/families.h"

namespace ekvi::model {

constinit const Family kPhi3 = {
    .gguf = {.architecture = "phi3"},
    .hub = {.model_type = "phi3",
            .epsilon_otherwise = 1e-5,
            .windows = HubWindows::kAll,
            .rope_share = "partial_rotary_factor",
            .names = {.fused = FusedQkv::kBlocks, .qkv = "self_attn.qkv_proj", .gate_up = "mlp.gate_up_proj"}},
};

}  // namespace ekvi::model
