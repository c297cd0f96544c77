// Goal: a configuration that cannot be computed is refused by the name of its field. Method: one fault at a time in a
// good one.
#include "model/config.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "ekvi/error.h"
#include "model/decoder_testing.h"

namespace ekvi::model {
namespace {

struct Fault {
  std::string words;  // in the message
  std::function<void(DecoderConfig&)> change;
};

AttentionConfig& Attention(DecoderConfig& config) { return config.layers[1].attention; }

std::vector<Fault> Faults() {
  return {
      {"vocabulary is 0, outside 1 … 4194304", [](DecoderConfig& c) { c.vocabulary = 0; }},
      {"width is 0", [](DecoderConfig& c) { c.width = 0; }},
      {"context is 16777217", [](DecoderConfig& c) { c.context = (int64_t{1} << 24) + 1; }},
      {"layers.size() is 0", [](DecoderConfig& c) { c.layers.clear(); }},
      {"layers.size() is 1025, outside 1 … 1024", [](DecoderConfig& c) { c.layers.resize(1025, c.layers[0]); }},
      {"context is 4096, past the 9 rows", [](DecoderConfig& c) { c.learned_positions = 9; }},
      {"final_norm.epsilon is nan", [](DecoderConfig& c) { c.final_norm->epsilon = NAN; }},
      {"layers[1].ffn_norm.epsilon is 0", [](DecoderConfig& c) { c.layers[1].ffn_norm->epsilon = 0; }},
      {"layers[1].attention.q_heads is 0", [](DecoderConfig& c) { Attention(c).q_heads = 0; }},
      {"layers[1].attention.kv_heads is 3, which does not divide q_heads 4",
       [](DecoderConfig& c) { Attention(c).kv_heads = 3; }},
      {"layers[1].attention.kv_heads is 0", [](DecoderConfig& c) { Attention(c).kv_heads = 0; }},
      {"layers[1].attention.head_dim_v is 1025", [](DecoderConfig& c) { Attention(c).head_dim_v = 1025; }},
      {"layers[1].attention.rope.dims is 10, outside 2 … 8", [](DecoderConfig& c) { Attention(c).rope->dims = 10; }},
      {"layers[1].attention.rope.dims is 5, not even", [](DecoderConfig& c) { Attention(c).rope->dims = 5; }},
      {"layers[1].attention.rope.base is inf", [](DecoderConfig& c) { Attention(c).rope->base = INFINITY; }},
      {"layers[1].attention.rope.divisors has 3 values, 4 wanted",
       [](DecoderConfig& c) {
         Attention(c).rope->divisors = {1, 2, 3};
       }},
      {"layers[1].attention.rope.divisors is 0",
       [](DecoderConfig& c) {
         Attention(c).rope->divisors = {1, 0, 1, 1};
       }},
      {"layers[1].attention.window is -1", [](DecoderConfig& c) { Attention(c).window = -1; }},
      {"layers[1].attention.soft_cap is -1", [](DecoderConfig& c) { Attention(c).soft_cap = -1; }},
      {"layers[1].attention.alibi_slopes has 1 values, 4 wanted",
       [](DecoderConfig& c) { Attention(c).alibi_slopes = {1}; }},
      {"layers[1].ffn.width is 0", [](DecoderConfig& c) { c.layers[1].ffn.width = 0; }},
      {"layers[1].biases.gate is set",
       [](DecoderConfig& c) { c.layers[1].ffn.gate = false, c.layers[1].biases.gate = true; }},
      {"layers[1].residual_scale is nan", [](DecoderConfig& c) { c.layers[1].residual_scale = NAN; }},
      {"logits_soft_cap is -2", [](DecoderConfig& c) { c.logits_soft_cap = -2; }},
  };
}

TEST(Config, EachFault_IsRefusedByNameAndNumber) {
  for (const Fault& fault : Faults()) {
    DecoderConfig config = testing::LlamaLike(4, 2);
    ASSERT_NO_THROW(Validate(config));
    fault.change(config);
    try {
      Validate(config);
      ADD_FAILURE() << "not refused: " << fault.words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find(fault.words), std::string::npos)
          << error.what() << "\nwanted: " << fault.words;
    }
  }
}

TEST(Config, Layout_TakesEachLayersShape) {
  DecoderConfig config = testing::LlamaLike(4, 2);
  config.layers[1].attention.head_dim_v = 5;
  const CacheLayout layout = LayoutOf(config, DType::kF16, DType::kBF16);
  EXPECT_EQ(layout.layers, (std::vector<LayerShape>{{2, 8, 8}, {2, 8, 5}}));
  EXPECT_EQ(layout.dtype_k, DType::kF16);
  EXPECT_EQ(layout.dtype_v, DType::kBF16);
}

}  // namespace
}  // namespace ekvi::model
