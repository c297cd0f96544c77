// Goal: a config.json means what it means to the reference, in every spelling, or is refused by key. Method: small
// configurations, a source that has every tensor's name and none of its values, and the shared folder of broken
// folders.
#include <gtest/gtest.h>

#include <cmath>

#include "files/reader_expect_error.h"
#include "model/hub_model.h"
#include "model/model_loader.h"
#include "shared_path.h"

namespace ekvi::model::testing {
namespace {

using ekvi::testing::SharedPath;

class NoTensors final : public TensorSource {
 public:
  std::optional<StoredTensor> Find(std::string_view) const override { return std::nullopt; }
  bool Has(std::string_view) const override { return false; }
  std::shared_ptr<const void> owner() const override { return nullptr; }
  std::string file() const override { return "none"; }
};

DecoderConfig Read(const std::string& text) {
  const files::JsonValue json = files::ParseJson(text, "config.json");
  return ReadHubModel(files::JsonObject(json, "config.json"), NoTensors()).config;
}

// A small configuration of `type` with more keys, each followed by a comma.
std::string Config(const std::string& type, const std::string& more = "", int layers = 4) {
  return R"({"model_type": ")" + type + R"(", )" + more + R"("hidden_size": 32, "num_attention_heads": 4, )" +
         R"("num_key_value_heads": 2, "intermediate_size": 40, "vocab_size": 50, "max_position_embeddings": 128, )" +
         R"("num_hidden_layers": )" + std::to_string(layers) + "}";
}

void ExpectRefused(ErrorCode code, std::initializer_list<std::string_view> words, const std::string& config) {
  files::ExpectError(code, words, [&] { Read(config); });
}

std::vector<int64_t> Windows(const DecoderConfig& config) {
  std::vector<int64_t> windows;
  for (const LayerConfig& layer : config.layers) windows.push_back(layer.attention.window);
  return windows;
}

const RopeConfig& Rope(const DecoderConfig& config, int layer = 0) { return *config.layers[layer].attention.rope; }

TEST(BR_14, BothSpellingsOfRope_GiveTheSameFrequencies) {
  const std::pair<std::string, std::string> spellings[] = {
      {R"("rope_theta": 500, "rope_scaling": {"type": "linear", "factor": 4},)",
       R"("rope_parameters": {"rope_type": "linear", "factor": 4, "rope_theta": 500},)"},
      {R"("rope_theta": 500.0, "rope_scaling": null,)", R"("rope_parameters": {"rope_theta": 500},)"},
      {R"("rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
           "original_max_position_embeddings": 32},)",
       R"("rope_parameters": {"type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
           "original_max_position_embeddings": 32},)"},
      {R"("original_max_position_embeddings": 32, "rope_scaling": {"type": "yarn", "factor": 4, "beta_fast": 8},)",
       R"("rope_parameters": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 32,
           "beta_fast": 8, "beta_slow": 1, "truncate": true},)"}};
  for (const auto& [old_spelling, new_spelling] : spellings) {
    EXPECT_EQ(Rope(Read(Config("llama", old_spelling))), Rope(Read(Config("llama", new_spelling)))) << new_spelling;
  }
}

TEST(Hub, YarnFactors_AreThoseTheFileGivesOrTheFormulas) {
  const auto factor = [](const std::string& keys) {
    return Rope(Read(Config("llama", R"("rope_scaling": {"rope_type": "yarn", "factor": 4)" + keys + "},")))
        .attention_factor;
  };
  EXPECT_NEAR(factor(""), 0.1 * std::log(4) + 1, 1e-15);
  EXPECT_EQ(factor(R"(, "attention_factor": 1.5)"), 1.5);
  EXPECT_NEAR(factor(R"(, "mscale": 0.5, "mscale_all_dim": 2)"), (0.05 * std::log(4) + 1) / (0.2 * std::log(4) + 1),
              1e-15);
}

TEST(Hub, LongRope_TakesTheTableOfTheContextChosen) {
  const DecoderConfig config = Read(Config("phi3", R"("original_max_position_embeddings": 64,
      "rope_scaling": {"type": "su", "short_factor": [1, 2, 3, 4], "long_factor": [5, 6, 7, 8]},)"));
  EXPECT_EQ(RopeForContext(Rope(config), 64).divisors, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(RopeForContext(Rope(config), 65).divisors, (std::vector<double>{5, 6, 7, 8}));
  EXPECT_NEAR(Rope(config).attention_factor, std::sqrt(1 + std::log(2) / std::log(64)), 1e-15);
}

TEST(Hub, LocalLayers_HaveTheirOwnThetaAndNoScaling) {
  const std::string old_spelling =
      Config("gemma3_text", R"("rope_theta": 1000, "rope_local_base_freq": 10, "sliding_window": 8,
          "sliding_window_pattern": 2, "rope_scaling": {"rope_type": "linear", "factor": 8},)");
  const std::string by_kind = Config("gemma3_text", R"("sliding_window": 8,
      "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
      "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000},
                          "sliding_attention": {"rope_theta": 10}},)");
  for (const std::string& text : {old_spelling, by_kind}) {
    const DecoderConfig config = Read(text);
    EXPECT_EQ(Windows(config), (std::vector<int64_t>{8, 0, 8, 0}));
    EXPECT_EQ(Rope(config, 0).base, 10);
    EXPECT_TRUE(Rope(config, 0).divisors.empty());
    EXPECT_EQ(Rope(config, 1).base, 1000);
    EXPECT_EQ(Rope(config, 1).divisors[0], 8);
  }
}

TEST(BR_21, Windows_AreThoseOfEachLayer) {
  const std::vector<int64_t> none(4, 0), all(4, 8);
  const auto windows = [](const std::string& type, const std::string& more) {
    return Windows(Read(Config(type, R"("sliding_window": 8, )" + more)));
  };
  EXPECT_EQ(windows("llama", ""), none);  // the reference has no window here
  for (const char* type : {"mistral", "phi3", "starcoder2"}) EXPECT_EQ(windows(type, ""), all) << type;
  for (const char* type : {"qwen2", "qwen3"}) {
    EXPECT_EQ(windows(type, R"("use_sliding_window": false,)"), none) << type;
    EXPECT_EQ(windows(type, R"("use_sliding_window": true, "max_window_layers": 3,)"),
              (std::vector<int64_t>{0, 0, 0, 8}))
        << type;
  }
  EXPECT_EQ(windows("gemma2", ""), (std::vector<int64_t>{8, 0, 8, 0}));
  EXPECT_EQ(windows("gemma3_text", ""), all);
  EXPECT_EQ(Windows(Read(Config("mistral", R"("sliding_window": null,)"))), none);
  EXPECT_EQ(Windows(Read(Config("mistral"))), std::vector<int64_t>(4, 4096));  // the reference's default
}

TEST(Hub, LayersWithoutRope_AreThoseOfTheListOrTheInterval) {
  const auto rotates = [](const std::string& more) {
    std::string text;
    for (const LayerConfig& layer : Read(Config("smollm3", more)).layers) text += layer.attention.rope ? '1' : '0';
    return text;
  };
  EXPECT_EQ(rotates(""), "1110");
  EXPECT_EQ(rotates(R"("no_rope_layer_interval": 2,)"), "1010");
  EXPECT_EQ(rotates(R"("no_rope_layers": [0, 1, 1, 0],)"), "0110");
}

TEST(Hub, Experts_AreInTheLayersThatTheFileSays) {
  const DecoderConfig config =
      Read(Config("qwen3_moe", R"("num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 12,
          "decoder_sparse_step": 2, "mlp_only_layers": [3], "head_dim": 8,)"));
  for (int i = 0; i < 4; ++i) {
    const FeedForwardConfig& ffn = config.layers[i].ffn;
    EXPECT_EQ(ffn.kind == FeedForwardKind::kExperts, i == 1) << i;
    EXPECT_EQ(ffn.width, i == 1 ? 12 : 40) << i;
  }
  EXPECT_EQ(config.layers[1].ffn.experts.weights, RouterWeights::kSoftmaxOfAll);  // norm_topk_prob is missing
}

TEST(Hub, MissingKeys_MeanWhatTheyMeanToTheReference) {
  EXPECT_EQ(Read(Config("qwen3")).layers[0].attention.head_dim_k, 128);
  EXPECT_EQ(Read(Config("llama", R"("head_dim": null,)")).layers[0].attention.head_dim_k, 8);
  EXPECT_EQ(Read(Config("gemma2")).layers[0].attention.soft_cap, 50);
  EXPECT_EQ(Read(Config("gemma2", R"("attn_logit_softcapping": null,)")).layers[0].attention.soft_cap, 0);
  EXPECT_EQ(Read(Config("gemma")).layers[0].ffn.activation, kernels::Activation::kGeluTanh);
  EXPECT_EQ(Read(Config("gemma", R"("hidden_act": "gelu",)")).layers[0].ffn.activation, kernels::Activation::kGeluTanh);
  EXPECT_EQ(Read(Config("gpt_neox")).layers[0].ffn.activation, kernels::Activation::kGeluErf);
  EXPECT_EQ(Read(Config("gpt_neox", R"("rotary_pct": 0.5,)")).layers[0].attention.rope->dims, 4);
  EXPECT_TRUE(Read(Config("gemma")).tied_head);
  EXPECT_FALSE(Read(Config("llama")).tied_head);
  EXPECT_EQ(Read(R"({"model_type": "gpt2", "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 20,
      "vocab_size": 9, "n_inner": null})")
                .layers[0]
                .ffn.width,
            128);
}

TEST(BR_69, EmbeddingIsScaledByTheRootOfItsWidth) {
  for (const char* type : {"gemma", "gemma2", "gemma3_text"})
    EXPECT_EQ(Read(Config(type)).embedding_scale, std::sqrt(32.0)) << type;
}

TEST(BR_14, RopeThatIsUnknownOrIncomplete_IsRefusedByName) {
  const auto scaling = [](const std::string& value) { return Config("llama", R"("rope_scaling": )" + value + ","); };
  ExpectRefused(ErrorCode::kUnsupported, {"rope_scaling.rope_type", "spiral", "yarn"},
                scaling(R"({"rope_type": "spiral"})"));
  ExpectRefused(ErrorCode::kUnsupported, {"rope_scaling.type", "dynamic", "later"},
                scaling(R"({"type": "dynamic", "factor": 2})"));
  ExpectRefused(ErrorCode::kCorrupt, {"rope_scaling.factor", "0"}, scaling(R"({"type": "linear", "factor": 0})"));
  ExpectRefused(ErrorCode::kCorrupt, {"rope_scaling.low_freq_factor", "missing"},
                scaling(R"({"type": "llama3", "factor": 8, "high_freq_factor": 4})"));
  ExpectRefused(ErrorCode::kCorrupt, {"high_freq_factor", "4", "1"},
                scaling(R"({"type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1})"));
  ExpectRefused(
      ErrorCode::kCorrupt, {"rope_scaling.short_factor", "3", "4"},
      Config("phi3", R"("rope_scaling": {"type": "longrope", "short_factor": [1, 2, 3], "long_factor": []},)"));
  ExpectRefused(ErrorCode::kUnsupported, {"partial_rotary_factor", "0.5"},
                Config("llama", R"("partial_rotary_factor": 0.5,)"));
}

TEST(Hub, WhatIsNotComputed_IsRefusedByName) {
  ExpectRefused(ErrorCode::kUnsupported, {"model_type", "lamma", "llama", "gpt_oss"}, Config("lamma"));
  ExpectRefused(ErrorCode::kUnsupported, {"hidden_act", "swoosh", "silu"},
                Config("llama", R"("hidden_act": "swoosh",)"));
  ExpectRefused(ErrorCode::kUnsupported, {"quantization_config", "mxfp4"},
                Config("gpt_oss", R"("quantization_config": {"quant_method": "mxfp4"},)"));
  ExpectRefused(ErrorCode::kUnsupported, {"use_bidirectional_attention"},
                Config("gemma3_text", R"("use_bidirectional_attention": true,)"));
  ExpectRefused(ErrorCode::kUnsupported, {"layer_types", "chunked_attention"},
                Config("gemma2", R"("layer_types": ["full_attention", "chunked_attention", "full_attention",
                    "full_attention"],)"));
  ExpectRefused(ErrorCode::kCorrupt, {"layer_types", "1 values", "4 layers"},
                Config("gemma2", R"("layer_types": ["full_attention"],)"));
  ExpectRefused(ErrorCode::kCorrupt, {"sliding_window", "no"},
                Config("qwen2", R"("layer_types": ["full_attention", "sliding_attention", "full_attention",
                    "full_attention"],)"));
  ExpectRefused(ErrorCode::kCorrupt, {"num_experts_per_tok", "9", "4"},
                Config("mixtral", R"("num_local_experts": 4, "num_experts_per_tok": 9,)"));
}

// Names alone would take 600 MB.
TEST(Hub, HugeClaimsOfExperts_AreRefusedWithoutMemory) {
  const std::string text = Config("mixtral", R"("num_local_experts": 1024, "num_experts_per_tok": 2,)", 1024);
  const files::JsonValue json = files::ParseJson(text, "config.json");
  const FamilyModel model = ReadHubModel(files::JsonObject(json, "config.json"), NoTensors());
  size_t named = 0;
  for (const LayerNames& layer : model.names.layers) named += layer.experts.size();
  EXPECT_LE(named, 1024u);
}

struct BadFolder {
  const char* name;
  std::initializer_list<std::string_view> words;
};

constexpr std::string_view kV = "model.layers.0.self_attn.v_proj.weight";
const BadFolder kBadFolders[] = {
    {"header_length", {"header length"}},
    {"header_length_past_end", {"header length"}},
    {"file_short", {"truncated"}},
    {"header_not_json", {"header", "JSON", "byte"}},
    {"header_cut", {"header", "JSON", "byte"}},
    {"header_deep", {"header", "depth"}},
    {"offsets_overlap", {kV, "model.layers.0.self_attn.q_proj.weight", "offsets"}},
    {"offsets_past_end", {"lm_head.weight", "offsets"}},
    {"offsets_reversed", {kV, "offsets"}},
    {"offsets_negative", {kV, "data_offsets", "-8"}},
    {"offsets_size", {kV, "bytes"}},
    {"data_truncated", {"file has"}},
    {"shape_overflow", {kV, "8589934592"}},
    {"shape_wrap", {kV, "shape"}},
    {"shape_negative", {kV, "shape", "-4"}},
    {"dtype_unknown", {kV, "F13"}},
    {"dtype_integer", {kV, "I32"}},
    {"field_missing", {kV, "data_offsets"}},
    {"name_duplicate", {kV, "duplicate"}},
    {"missing_tensor", {"model.layers.0.mlp.up_proj.weight", "missing"}},
    {"tensor_shape", {"model.layers.0.self_attn.k_proj.weight", "[3, 8]", "[4, 8]"}},
    {"index_missing_shard", {"model-00002-of-00002.safetensors"}},
    {"index_wrong_shard", {"index.json", "is not in"}},
    {"index_not_json", {"model.safetensors.index.json", "line"}},
    {"index_outside", {"../good/model.safetensors"}},
    {"no_weights", {"no_weights", "model.safetensors"}},
    {"no_config", {"config.json"}},
    {"config_not_json", {"config.json", "line"}},
    {"kv_heads", {"num_key_value_heads", "3", "num_attention_heads", "2"}},
    {"heads_0", {"num_attention_heads", "0"}},
    {"head_dim", {"head_dim", "0"}},
    {"missing_key", {"hidden_size", "missing"}},
    {"key_wrong_type", {"hidden_size", "string", "'8'"}},
    {"more_layers", {"model.layers.1.", "missing"}},
    {"layers_huge", {"num_hidden_layers", "1099511627776"}},
    {"model_type", {"lamma", "llama"}},
    {"no_model_type", {"model_type", "missing"}},
    {"rope_type", {"spiral", "yarn"}},
    {"rope_incomplete", {"low_freq_factor"}},
    {"rope_factor_0", {"factor"}},
    {"activation", {"hidden_act", "swoosh", "silu"}},
    {"vocab_size", {"vocab_size", "64", "20"}},
    {"untied_without_head", {"lm_head.weight"}},
};

TEST(Hub, EveryBrokenFolder_IsRefusedByWhatIsWrong) {
  EKVI_SKIP_WITHOUT(SharedPath("models/bad"));
  for (const BadFolder& folder : kBadFolders) {
    SCOPED_TRACE(folder.name);
    try {
      LoadModel(SharedPath("models/bad") / folder.name, Compute::kAuto);
      ADD_FAILURE() << "it was loaded";
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(folder.name), std::string::npos) << text;
      for (const std::string_view word : folder.words) EXPECT_NE(text.find(word), std::string::npos) << word << text;
    }
  }
  EXPECT_NO_THROW(LoadModel(SharedPath("models/bad/good"), Compute::kAuto));
}

}  // namespace
}  // namespace ekvi::model::testing
