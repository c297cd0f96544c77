// Goal: weights that are missing, of another shape or not finite are refused by name before anything runs. Method: a
// good model with one tensor doctored.
#include "model/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ekvi/error.h"
#include "model/decoder_testing.h"

namespace ekvi::model::testing {
namespace {

std::string RefusalOf(const TestModel& model) {
  try {
    model.Weights<float>();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    return error.what();
  }
  return "loaded";
}

void ExpectWords(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text << "\nwanted: " << word;
}

DecoderConfig AllParts() {
  DecoderConfig config = LlamaLike(4, 2);
  config.head_bias = true;
  for (LayerConfig& layer : config.layers) {
    layer.biases = {true, true, true, true, true, true, true};
    layer.attention.q_norm = layer.attention.k_norm = NormConfig{};
    layer.attention_out_norm = layer.ffn_out_norm = NormConfig{};
    layer.attention.sink_logits = true;
  }
  return config;
}

const char* const kLayerTensors[] = {"attention_norm",
                                     "attention_out_norm",
                                     "ffn_norm",
                                     "ffn_out_norm",
                                     "q_norm",
                                     "k_norm",
                                     "q",
                                     "k",
                                     "v",
                                     "o",
                                     "q_bias",
                                     "k_bias",
                                     "v_bias",
                                     "o_bias",
                                     "gate",
                                     "up",
                                     "down",
                                     "gate_bias",
                                     "up_bias",
                                     "down_bias",
                                     "sink_logits"};

std::vector<std::string> AllTensors() {
  std::vector<std::string> names = {"embedding", "final_norm", "head", "head_bias"};
  for (const char* name : kLayerTensors) names.push_back(std::string("layers.1.") + name);
  return names;
}

TEST(Weights, EachTensorMissing_IsNamed) {
  ASSERT_EQ(RefusalOf(RandomModel(AllParts(), 1)), "loaded");
  for (const std::string& name : AllTensors()) {
    TestModel model = RandomModel(AllParts(), 1);
    model.source->Remove(name);
    ExpectWords(RefusalOf(model), {"memory", "tensor " + name + " is missing"});
  }
}

TEST(Weights, EachTensorWithAValueThatIsNotFinite_IsNamed) {
  for (const std::string& name : AllTensors()) {
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      TestModel model = RandomModel(AllParts(), 1);
      model.source->Set(name, 1, bad);
      ExpectWords(RefusalOf(model), {"memory: tensor " + name, "not finite", "1"});
    }
  }
}

TEST(Weights, TensorOfAnotherShape_IsRefusedWithBothShapes) {
  TestModel model = RandomModel(AllParts(), 1);
  model.source->Add("layers.1.k", {32, 16}, std::vector<double>(32 * 16));
  ExpectWords(RefusalOf(model), {"tensor layers.1.k has the wrong shape", "[32, 16]", "[16, 32]"});
  model = RandomModel(AllParts(), 1);
  model.source->Add("layers.0.ffn_norm", {31}, std::vector<double>(31));
  ExpectWords(RefusalOf(model), {"tensor layers.0.ffn_norm has the wrong shape", "[31]", "[32]"});
}

TEST(Weights, TensorsThatTheConfigurationDoesNotNeed_AreNotLookedAt) {
  TestModel model = RandomModel(AllParts(), 1);
  for (LayerConfig& layer : model.config.layers) layer.biases = {};
  model.source->Remove("layers.0.q_bias");
  EXPECT_EQ(RefusalOf(model), "loaded");
}

TEST(Weights, FusedAndReorderedTensors_GiveTheirParts) {
  const TestModel apart = RandomModel(LlamaLike(4, 2), 2);
  TestModel fused = apart;
  fused.source = std::make_shared<MemorySource>(*apart.source);
  for (int i = 0; i < 2; ++i) {
    const std::string at = "layers." + std::to_string(i) + ".";
    std::vector<double> all;
    for (const char* part : {"q", "k", "v"}) {
      const std::vector<double> values = apart.source->Values(at + part);
      all.insert(all.end(), values.begin(), values.end());
      fused.source->Remove(at + part);
    }
    fused.source->Add(at + "qkv", {64, 32}, all);
    LayerNames& names = fused.names.layers[i];
    names.q = {.tensor = at + "qkv", .first = 0, .stored = 64};
    names.k = {.tensor = at + "qkv", .first = 32, .stored = 64};
    names.v = {.tensor = at + "qkv", .stored = 64};
    for (int row = 48; row < 64; ++row) names.v.order.push_back(row);
  }
  const std::vector<int32_t> tokens = RandomTokens(5, 41, 3);
  std::vector<std::vector<float>> logits;
  for (const auto* model : {static_cast<const TestModel*>(&apart), static_cast<const TestModel*>(&fused)}) {
    Decoder<float> decoder(model->Weights<float>(), OwnSettings<float>());
    ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 8});
    logits.push_back(FeedRow<float>(decoder, cache, 0, tokens));
  }
  EXPECT_EQ(logits[0], logits[1]);
}

TEST(Weights, Bytes_CountWhatIsHeld) {
  const auto weights = RandomModel(LlamaLike(4, 2), 2).Weights<float>();
  // Per layer: q 32, k 16, v 16, o 32 rows of 32; gate and up 48 (44 rounded up) of 32, down 32 of 44; two norms of 32.
  const size_t layer = (32 + 16 + 16 + 32) * 32 + 2 * 48 * 32 + 32 * 44 + 2 * 32;
  EXPECT_GE(weights->bytes(), (2 * layer + 48 * 32 + 32) * sizeof(float));
}

}  // namespace
}  // namespace ekvi::model::testing
