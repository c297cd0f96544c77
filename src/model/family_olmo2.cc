// OLMo 2: norms of the blocks' outputs alone, and of q and k over all heads at once.
#include "model/families.h"

namespace ekvi::model {

constinit const Family kOlmo2 = {
    .norms = NormPlaces::kAfter,
    .qk_norm = QkNormSpan::kAllHeads,
    .gguf = {.architecture = "olmo2", .attention_out_norm = "post_attention_norm", .ffn_out_norm = "post_ffw_norm"},
    .hub = {.model_type = "olmo2",
            .epsilon_otherwise = 1e-5,
            .attention_bias = {"attention_bias"},
            .names = {.attention_out_norm = "post_attention_layernorm", .ffn_out_norm = "post_feedforward_layernorm"}},
};

}  // namespace ekvi::model
