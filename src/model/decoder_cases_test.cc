// Goal: faults that others shipped in forward passes do not exist here. Method: each case of the catalogue as a test,
// on small random models with learned and with rotary positions, with == on bits.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ekvi/error.h"
#include "model/decoder.h"
#include "model/decoder_testing.h"

namespace ekvi::model::testing {
namespace {

struct Fixture {
  explicit Fixture(const DecoderConfig& config, int rows = 1, int64_t max_len = 64)
      : decoder(RandomModel(config, 21).Weights<float>(), OwnSettings<float>(2)),
        cache(decoder.layout(), {.rows = rows, .max_len = max_len}) {}

  std::vector<float> Feed(int row, std::span<const int32_t> tokens) {
    return FeedRow<float>(decoder, cache, row, tokens);
  }
  std::vector<float> Feed(int row, std::span<const int32_t> tokens, const std::vector<int64_t>& counts) {
    return FeedRow<float>(decoder, cache, row, tokens, counts);
  }
  // Logits of all tokens of several rows in one step.
  std::vector<std::vector<float>> FeedTogether(const std::vector<std::vector<int32_t>>& tokens) {
    const int64_t vocabulary = decoder.config().vocabulary;
    std::vector<StepRow> rows;
    int64_t total = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      rows.push_back({static_cast<int>(i), tokens[i], static_cast<int64_t>(tokens[i].size())});
      total += rows.back().logits_count;
    }
    std::vector<float> all(total * vocabulary);
    decoder.Step(cache, rows, {.f32 = all.data()});
    std::vector<std::vector<float>> split;
    auto at = all.begin();
    for (const StepRow& row : rows) {
      split.emplace_back(at, at + row.logits_count * vocabulary);
      at += row.logits_count * vocabulary;
    }
    return split;
  }

  Decoder<float> decoder;
  ContiguousCache cache;
};

// Rotary and learned positions.
std::vector<DecoderConfig> BothKinds() { return {LlamaLike(4, 2), GptLike()}; }

std::vector<int32_t> Joined(std::vector<int32_t> a, const std::vector<int32_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(BR_03, LastPromptTokenChanged_LeavesEarlierOutputsAndStoredRowsAlone) {
  for (const DecoderConfig& config : BothKinds()) {
    std::vector<int32_t> tokens = RandomTokens(12, 37, 1);
    Fixture a(config), b(config);
    const std::vector<float> logits = a.Feed(0, tokens);
    tokens.back() = (tokens.back() + 1) % 37;
    const std::vector<float> changed = b.Feed(0, tokens);
    const auto earlier = static_cast<std::ptrdiff_t>(11 * config.vocabulary);
    EXPECT_TRUE(std::equal(logits.begin(), logits.begin() + earlier, changed.begin()));
    EXPECT_FALSE(std::equal(logits.begin() + earlier, logits.end(), changed.begin() + earlier));
    const LayerShape shape = a.cache.layout().layers[0];
    std::vector<double> k(shape.head_dim_k), v(shape.head_dim_v), other_k(k), other_v(v);
    for (int layer = 0; layer < 2; ++layer) {
      for (int position = 0; position < 11; ++position) {
        for (int head = 0; head < shape.kv_heads; ++head) {
          a.cache.Read(layer, 0, position, head, k, v);
          b.cache.Read(layer, 0, position, head, other_k, other_v);
          EXPECT_TRUE(k == other_k && v == other_v) << layer << " " << position;
        }
      }
    }
  }
}

TEST(BR_05, RowsOfABatchContinuedFromTheirCache_EqualTheirOwnRuns) {
  for (const DecoderConfig& config : BothKinds()) {
    for (int longer = 0; longer <= 5; ++longer) {
      for (const int appended : {1, 4}) {
        const std::vector<int32_t> a = RandomTokens(3, 37, 2), b = RandomTokens(3 + longer, 37, 3);
        const std::vector<int32_t> next_a = RandomTokens(appended, 37, 4), next_b = RandomTokens(appended, 37, 5);
        Fixture batch(config, 2), alone_a(config), alone_b(config);
        batch.FeedTogether({a, b});
        const auto continued = batch.FeedTogether({next_a, next_b});
        const std::vector<float> whole_a = alone_a.Feed(0, Joined(a, next_a)),
                                 whole_b = alone_b.Feed(0, Joined(b, next_b));
        EXPECT_TRUE(std::equal(continued[0].rbegin(), continued[0].rend(), whole_a.rbegin())) << longer;
        EXPECT_TRUE(std::equal(continued[1].rbegin(), continued[1].rend(), whole_b.rbegin())) << longer;
      }
    }
  }
}

TEST(BR_07, LengthOfOtherRows_ShiftsNoPosition) {
  for (const DecoderConfig& config : BothKinds()) {
    const std::vector<int32_t> tokens = RandomTokens(4, 37, 6);
    Fixture alone(config);
    const std::vector<float> expected = alone.Feed(0, tokens);
    for (int longer = 0; longer <= 4; ++longer) {
      Fixture batch(config, 2);
      EXPECT_EQ(batch.FeedTogether({tokens, RandomTokens(4 + longer, 37, 7)})[0], expected) << longer;
    }
  }
}

TEST(BR_09, PositionsEndAtTheContext_CheckedBeforeTheFirstForward) {
  for (DecoderConfig config : BothKinds()) {
    config.context = 20;
    if (config.learned_positions > 0) config.learned_positions = 20;
    for (const int prompt : {1, 15, 19, 20}) {
      Fixture fixture(config, 2, 64);
      fixture.Feed(1, RandomTokens(prompt, 37, 8));
      const std::vector<double> before = StoredRow(fixture.cache, 1);
      try {
        fixture.Feed(1, RandomTokens(21 - prompt, 37, 9));
        FAIL() << "not refused";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kCapacity);
        const std::string text = error.what();
        for (const std::string& word :
             {std::string("row 1"), std::to_string(prompt) + " tokens", std::string("= 21"), std::string("is 20")}) {
          EXPECT_NE(text.find(word), std::string::npos) << text;
        }
      }
      EXPECT_EQ(StoredRow(fixture.cache, 1), before);
      EXPECT_NO_THROW(fixture.Feed(1, RandomTokens(20 - prompt, 37, 9)));  // position 19 is legal
    }
    Fixture fixture(config, 1, 64);
    EXPECT_THROW(fixture.Feed(0, RandomTokens(21, 37, 10)), Error);
    EXPECT_EQ(fixture.cache.length(0), 0);
  }
}

TEST(BR_15, OneShotStepwiseAndChunks_UseTheSamePositionsForQueriesAndKeys) {
  for (const DecoderConfig& config : BothKinds()) {
    const std::vector<int32_t> tokens = RandomTokens(15, 37, 11);
    Fixture fixture(config, 3);
    const std::vector<float> whole = fixture.Feed(0, tokens);
    EXPECT_EQ(fixture.Feed(1, tokens, std::vector<int64_t>(15, 1)), whole);
    EXPECT_EQ(fixture.Feed(2, tokens, {6, 1, 8}), whole);
    Fixture batch(config, 2);
    batch.FeedTogether({std::vector<int32_t>(tokens.begin(), tokens.begin() + 9), RandomTokens(2, 37, 12)});
    const auto rest =
        batch.FeedTogether({std::vector<int32_t>(tokens.begin() + 9, tokens.end()), RandomTokens(6, 37, 13)});
    EXPECT_TRUE(std::equal(rest[0].rbegin(), rest[0].rend(), whole.rbegin()));
  }
}

std::vector<double> LogProbabilities(std::vector<double> logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  for (double& logit : logits) logit -= std::log(sum);
  return logits;
}

TEST(BR_46, TiedHeadOfAScaledEmbedding_IsNotScaled) {
  DecoderConfig config = LlamaLike(4, 2);
  config.tied_head = true;
  config.embedding_scale = 33.9411;
  const TestModel model = RandomModel(config, 22);
  const std::vector<int32_t> tokens = RandomTokens(1, 41, 14);
  Decoder<double> decoder(model.Weights<double>(), OwnSettings<double>());
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 8});
  const std::vector<double> got = LogProbabilities(FeedRow<double>(decoder, cache, 0, tokens));
  EXPECT_LT(WorstDifference(got, LogProbabilities(ReferenceForward(model, tokens).logits)), 1e-12);
}

TEST(BR_46, UntiedHeadThatIsMissing_IsRefusedByName) {
  TestModel model = RandomModel(LlamaLike(4, 2), 23);
  model.source->Remove("head");
  try {
    model.Weights<float>();
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
    EXPECT_NE(std::string(error.what()).find("tensor head is missing"), std::string::npos) << error.what();
  }
}

// Blocks that add nothing leave the embedding visible in the hidden state.
TEST(BR_70, EmbeddingScale_IsTheSameInEveryTypeOfWeights) {
  for (const int width : {1152, 640}) {
    DecoderConfig config{.vocabulary = 3, .width = width, .context = 8};
    config.embedding_scale = std::sqrt(static_cast<double>(width));
    LayerConfig layer;
    layer.attention = {.q_heads = 1, .kv_heads = 1, .head_dim_k = 4, .head_dim_v = 4};
    layer.ffn = {.width = 8};
    layer.residual_scale = 0;
    config.layers = {layer};
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      const TestModel model = RandomModel(config, 24, dtype);
      const std::vector<double> table = model.source->Values("embedding");
      Decoder<float> decoder(model.Weights<float>(), OwnSettings<float>());
      ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 8});
      FeedRow<float>(decoder, cache, 0, std::vector<int32_t>{2});
      const auto scale = static_cast<float>(config.embedding_scale);
      EXPECT_NEAR(scale, width == 1152 ? 33.9411 : 25.2982, 1e-4);
      for (int i = 0; i < width; ++i) EXPECT_EQ(decoder.hidden()[i], static_cast<float>(table[2 * width + i]) * scale);
    }
  }
}

}  // namespace
}  // namespace ekvi::model::testing
