// Goal: the forward pass computes its configuration, whatever that says, refuses what it cannot do and then changes
// nothing. Method: float64 against the plain twin of decoder_testing.h, feature by feature; float32 within its
// rounding.
#include "model/decoder.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/fault.h"
#include "ekvi/error.h"
#include "model/decoder_testing.h"
#include "model/rope.h"

namespace ekvi::model::testing {
namespace {

template <typename T>
ContiguousCache CacheFor(const Decoder<T>& decoder, int rows = 1, int64_t max_len = 64) {
  return ContiguousCache(decoder.layout(), {.rows = rows, .max_len = max_len});
}

struct Feature {
  std::string name;
  std::function<DecoderConfig()> config;
};

// A Llama with its layers changed.
Feature Changed(std::string name, std::function<void(LayerConfig&)> change) {
  return {std::move(name), [change] {
            DecoderConfig config = LlamaLike(4, 2);
            for (LayerConfig& layer : config.layers) change(layer);
            return config;
          }};
}

const NormConfig kLayerNorm{.kind = kernels::NormKind::kLayer, .epsilon = 1e-3, .weight = true, .bias = true};
const NormConfig kPlainLayerNorm{.kind = kernels::NormKind::kLayer, .epsilon = 1e-5, .weight = false, .bias = false};

void ClampTightly(LayerConfig& layer) {
  layer.ffn.activation = kernels::Activation::kClampedSwiglu;
  layer.ffn.limit = 0.8;  // random activations pass it often
  layer.ffn.alpha = 1.702;
}

DecoderConfig LayersOfOtherShapes() {
  DecoderConfig config = LlamaLike(4, 2, 3);
  config.layers[0].attention.window = 4;
  config.layers[1].attention = {.q_heads = 6, .kv_heads = 3, .head_dim_k = 4, .head_dim_v = 6};
  config.layers[1].ffn.width = 20;
  config.layers[2].attention.rope = RopeConfig{.dims = 6, .base = 77};
  return config;
}

DecoderConfig ScalesAtBothEnds() {
  DecoderConfig config = LlamaLike(4, 1);
  config.embedding_scale = 5.6;
  config.logits_scale = 0.3;
  config.logits_soft_cap = 2;
  config.tied_head = true;
  config.head_bias = true;
  config.final_norm = std::nullopt;
  return config;
}

std::vector<Feature> MixtureFeatures() {
  return {
      Changed("ClampedSwiglu", ClampTightly),
      Changed("Experts", [](LayerConfig& l) { MakeMixture(l, 5, 2); }),
      Changed("AllExperts", [](LayerConfig& l) { MakeMixture(l, 3, 3); }),
      Changed("OneExpert", [](LayerConfig& l) { MakeMixture(l, 1, 1); }),
      Changed("ExpertsNotRenormalised", [](LayerConfig& l) { MakeMixture(l, 6, 3, RouterWeights::kSoftmaxOfAll); }),
      Changed("ExpertsWithBiases",
              [](LayerConfig& l) {
                MakeMixture(l, 4, 2);
                ClampTightly(l);
                l.biases = {true, true, true, true, true, true, true};
                l.ffn.experts.router_bias = true;
                l.ffn_out_norm = NormConfig{};
              }),
      {"ExpertsInSomeLayers",
       [] {
         DecoderConfig config = LlamaLike(4, 2, 3);
         MakeMixture(config.layers[1], 7, 4);
         config.layers[1].ffn.width = 70;
         return config;
       }},
  };
}

std::vector<Feature> PlainFeatures() {
  using kernels::Activation;
  return {
      {"Llama", [] { return LlamaLike(4, 2); }},
      {"LlamaGroupOfThree", [] { return LlamaLike(6, 2); }},
      {"Gpt", [] { return GptLike(); }},
      {"LayersOfOtherShapes", LayersOfOtherShapes},
      {"ScalesAtBothEnds", ScalesAtBothEnds},
      Changed("LayerNorms", [](LayerConfig& l) { l.attention_norm = l.ffn_norm = kLayerNorm; }),
      Changed("NormsWithoutWeights", [](LayerConfig& l) { l.attention_norm = l.ffn_norm = kPlainLayerNorm; }),
      Changed("NormsOfOutputsToo", [](LayerConfig& l) { l.attention_out_norm = l.ffn_out_norm = NormConfig{}; }),
      Changed("NormsOfOutputsOnly",
              [](LayerConfig& l) {
                l.attention_out_norm = l.ffn_out_norm = NormConfig{};
                l.attention_norm = l.ffn_norm = std::nullopt;
              }),
      Changed("ParallelResidual", [](LayerConfig& l) { l.residual = Residual::kParallel; }),
      Changed("ResidualScale", [](LayerConfig& l) { l.residual_scale = 0.22; }),
      Changed("AllBiases", [](LayerConfig& l) { l.biases = {true, true, true, true, true, true, true}; }),
      Changed("QkNormPerHead", [](LayerConfig& l) { l.attention.q_norm = l.attention.k_norm = NormConfig{}; }),
      Changed("QkNormOfAllHeads",
              [](LayerConfig& l) {
                l.attention.q_norm = l.attention.k_norm = NormConfig{};
                l.attention.qk_norm_span = QkNormSpan::kAllHeads;
              }),
      Changed("NoPositions", [](LayerConfig& l) { l.attention.rope = std::nullopt; }),
      Changed("PartialRotary", [](LayerConfig& l) { l.attention.rope = RopeConfig{.dims = 4, .base = 500}; }),
      Changed(
          "RotaryFactors",
          [](LayerConfig& l) {
            l.attention.rope = RopeConfig{.dims = 8, .base = 100, .divisors = {1, 1.5, 4, 8}, .attention_factor = 1.14};
          }),
      Changed("Alibi",
              [](LayerConfig& l) {
                l.attention.alibi_slopes = {0.5, 0.25, 0.125, 0.0625};
              }),
      Changed("WindowAndSinkTokens", [](LayerConfig& l) { l.attention.window = 5, l.attention.sink_tokens = 2; }),
      Changed("SinkLogits", [](LayerConfig& l) { l.attention.sink_logits = true; }),
      Changed("ScaleAndSoftCap", [](LayerConfig& l) { l.attention.scale = 0.5, l.attention.soft_cap = 3; }),
      Changed("KeysAndValuesOfOtherSizes",
              [](LayerConfig& l) { l.attention.head_dim_k = 12, l.attention.head_dim_v = 5; }),
      Changed("GeluErf", [](LayerConfig& l) { l.ffn.activation = Activation::kGeluErf; }),
      Changed("RotaryOfAnOddShare", [](LayerConfig& l) { l.attention.rope = RopeConfig{.dims = 6, .period = 5}; }),
      Changed("ReluWithoutGate", [](LayerConfig& l) { l.ffn.activation = Activation::kRelu, l.ffn.gate = false; }),
  };
}

std::vector<Feature> Features() {
  std::vector<Feature> features = PlainFeatures();
  for (Feature& feature : MixtureFeatures()) features.push_back(std::move(feature));
  return features;
}

class DecoderFeature : public ::testing::TestWithParam<int> {};

TEST_P(DecoderFeature, EqualsThePlainTwin) {
  const Feature feature = Features()[GetParam()];
  const TestModel model = RandomModel(feature.config(), 17);
  const std::vector<int32_t> tokens = RandomTokens(23, model.config.vocabulary, 5);
  const ReferencePass reference = ReferenceForward(model, tokens);

  Decoder<double> exact(model.Weights<double>(), OwnSettings<double>());
  ContiguousCache cache = CacheFor(exact);
  const std::vector<double> logits = FeedRow(exact, cache, 0, tokens);
  EXPECT_LT(WorstDifference(logits, reference.logits), 1e-12) << feature.name;
  EXPECT_LT(WorstDifference(exact.hidden(), reference.hidden), 1e-12) << feature.name;

  Decoder<float> fast(model.Weights<float>(), OwnSettings<float>(2));
  ContiguousCache fast_cache = CacheFor(fast);
  EXPECT_LT(WorstDifference(std::span<const float>(FeedRow(fast, fast_cache, 0, tokens)), reference.logits), 1e-4)
      << feature.name;
}
INSTANTIATE_TEST_SUITE_P(Each, DecoderFeature, ::testing::Range(0, static_cast<int>(Features().size())),
                         [](const auto& info) { return Features()[info.param].name; });

// The weights of every type, against the twin on the values that are stored.
class DecoderWeightType : public ::testing::TestWithParam<DType> {};

TEST_P(DecoderWeightType, EqualsThePlainTwin) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 3, GetParam());
  const std::vector<int32_t> tokens = RandomTokens(9, model.config.vocabulary, 6);
  const ReferencePass reference = ReferenceForward(model, tokens);
  Decoder<double> exact(model.Weights<double>(), OwnSettings<double>());
  ContiguousCache cache = CacheFor(exact);
  EXPECT_LT(WorstDifference(FeedRow(exact, cache, 0, tokens), reference.logits), 1e-12);
  Decoder<float> fast(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache fast_cache = CacheFor(fast);
  EXPECT_LT(WorstDifference(std::span<const float>(FeedRow(fast, fast_cache, 0, tokens)), reference.logits), 1e-4);
}
INSTANTIATE_TEST_SUITE_P(Each, DecoderWeightType,
                         ::testing::Values(DType::kF64, DType::kF32, DType::kF16, DType::kBF16),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST(Decoder, LogitsInTheOtherType_AreThoseOfTheArithmeticConverted) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  const std::vector<int32_t> tokens = RandomTokens(150, model.config.vocabulary, 6);  // more than one block of the head
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache = CacheFor(decoder, 2, 200);
  const std::vector<float> own = FeedRow(decoder, cache, 0, tokens);
  std::vector<double> wide(own.size());
  const StepRow rows[] = {{1, tokens, 150}};
  decoder.Step(cache, rows, {.f64 = wide.data()});
  EXPECT_EQ(WorstDifference(std::span<const float>(own), wide), 0);
}

// What a step may not do; `rows` refers to `tokens`.
struct Refusal {
  std::string name;
  std::vector<std::vector<int32_t>> tokens;
  std::vector<int> rows;
  int64_t logits = 0;
  ErrorCode code;
  std::vector<std::string> words;  // in the message
};

std::vector<Refusal> Refusals() {
  return {
      {"TokenPastVocabulary",
       {{1, 2}, {3, 41}},
       {0, 1},
       0,
       ErrorCode::kInvalidArgument,
       {"41", "row 1", "index 1", "0 … 40"}},
      {"NegativeToken", {{-1}}, {2}, 0, ErrorCode::kInvalidArgument, {"-1", "row 2", "index 0"}},
      {"RowOutside", {{1}}, {3}, 0, ErrorCode::kInvalidArgument, {"row 3", "3 rows"}},
      {"RowTwice", {{1}, {2}}, {1, 1}, 0, ErrorCode::kInvalidArgument, {"row 1", "twice"}},
      {"MoreLogitsThanTokens", {{1, 2}}, {0}, 3, ErrorCode::kInvalidArgument, {"3", "2"}},
      {"PastTheCache", {std::vector<int32_t>(29, 1)}, {1}, 0, ErrorCode::kCapacity, {"row 1", "29", "4", "32"}},
  };
}

class DecoderRefusal : public ::testing::TestWithParam<int> {};

TEST_P(DecoderRefusal, NamesTheNumbersAndChangesNothing) {
  const Refusal refusal = Refusals()[GetParam()];
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache = CacheFor(decoder, 3, 32);
  for (int row = 0; row < 3; ++row) FeedRow(decoder, cache, row, RandomTokens(4, 41, row));
  const std::vector<double> before = StoredRow(cache, 1);

  std::vector<float> logits(200, 7.0f);
  std::vector<StepRow> rows;
  for (size_t i = 0; i < refusal.rows.size(); ++i) rows.push_back({refusal.rows[i], refusal.tokens[i], refusal.logits});
  try {
    decoder.Step(cache, rows, {.f32 = logits.data()});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), refusal.code);
    for (const std::string& word : refusal.words)
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
  EXPECT_EQ(StoredRow(cache, 1), before);
  EXPECT_EQ(logits, std::vector<float>(200, 7.0f));
  EXPECT_NO_THROW(FeedRow(decoder, cache, 1, RandomTokens(4, 41, 9)));
}
INSTANTIATE_TEST_SUITE_P(Each, DecoderRefusal, ::testing::Range(0, static_cast<int>(Refusals().size())),
                         [](const auto& info) { return Refusals()[info.param].name; });

TEST(Decoder, CacheOfAnotherLayout_IsRefusedNamingBoth) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache(CacheLayout::Uniform(2, {4, 8, 8}, DType::kF16), {.rows = 1, .max_len = 8});
  const std::vector<int32_t> tokens = {1};
  const StepRow rows[] = {{0, tokens, 0}};
  try {
    decoder.Step(cache, rows, {});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    const std::string text = error.what();
    for (const char* word : {"f16/f16", "f32/f32", "4 heads of 8/8", "2 heads of 8/8"})
      EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(Decoder, LogitsWithoutAPlaceOrWithTwo_AreRefused) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache = CacheFor(decoder);
  const std::vector<int32_t> tokens = {1};
  const StepRow rows[] = {{0, tokens, 1}};
  std::vector<float> f32(41);
  std::vector<double> f64(41);
  EXPECT_THROW(decoder.Step(cache, rows, {}), Error);
  EXPECT_THROW(decoder.Step(cache, rows, {.f32 = f32.data(), .f64 = f64.data()}), Error);
  EXPECT_EQ(cache.length(0), 0);
}

TEST(Decoder, ArithmeticAndCacheOfDifferentKinds_AreRefused) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  EXPECT_THROW(Decoder<float>(model.Weights<float>(), OwnSettings<double>()), Error);
  EXPECT_THROW(Decoder<double>(model.Weights<double>(), OwnSettings<float>()), Error);
}

TEST(Decoder, StepWithoutTokens_IsLegalAndChangesNothing) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache = CacheFor(decoder, 2);
  decoder.Step(cache, {}, {});
  const StepRow empty[] = {{1, {}, 0}};
  decoder.Step(cache, empty, {});
  EXPECT_EQ(cache.length(1), 0);
  EXPECT_TRUE(decoder.hidden().empty());
}

TEST(Decoder, PositionFault_ChangesLaterStepsOnly) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 8);
  const std::vector<int32_t> tokens = RandomTokens(6, 41, 2);
  Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
  ContiguousCache cache = CacheFor(decoder, 4);
  const std::vector<float> right = FeedRow(decoder, cache, 0, tokens);
  const base::ScopedFault fault(base::Fault::kPositionOffByOne);
  EXPECT_EQ(FeedRow(decoder, cache, 1, tokens), right);
  EXPECT_NE(FeedRow(decoder, cache, 2, tokens, {3, 3}), right);
}

}  // namespace
}  // namespace ekvi::model::testing
