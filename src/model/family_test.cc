// Goal: every family gives the reference's logits from a folder and from a GGUF file, in both arithmetics, and obeys
// the law. Method: the shared small models with float64 logits and greedy continuations of transformers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "files/gguf_split_testing.h"
#include "files/safetensors.h"
#include "model/decoder_testing.h"
#include "model/family_testing.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::model::testing {
namespace {

using ekvi::testing::SharedPath;

struct Expected {
  explicit Expected(const std::filesystem::path& path) {
    const files::SafetensorsFile file = files::SafetensorsFile::Open(path);
    for (const int64_t token : file.ReadI64("tokens")) tokens.push_back(static_cast<int32_t>(token));
    for (const int64_t token : file.ReadI64("greedy")) greedy.push_back(static_cast<int32_t>(token));
    logits = file.ReadF64("logits");
    for (const double logit : logits) greatest = std::max(greatest, std::abs(logit));
  }
  std::vector<int32_t> tokens, greedy;
  std::vector<double> logits;
  double greatest = 0;
};

// Small models have contexts of over a hundred tokens, or are stretched: then the one before.
template <typename T>
DecoderSettings Settings(int threads, std::string_view target = "") {
  DecoderSettings settings = OwnSettings<T>(threads, target);
  settings.context = 64;
  return settings;
}

template <typename T>
double RelativeError(const std::shared_ptr<const DecoderWeights<T>>& weights, const Expected& expected) {
  Decoder<T> decoder(weights, Settings<T>(2));
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 64});
  const std::vector<T> logits = FeedRow<T>(decoder, cache, 0, expected.tokens);
  cache.Reset(0);
  EXPECT_EQ(Continue<T>(decoder, cache, std::span(expected.tokens).first(8), 24), expected.greedy);
  return WorstDifference(std::span<const T>(logits), expected.logits) / expected.greatest;
}

class Family : public ::testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path folder() const { return SharedPath("models/tiny") / GetParam(); }
};

TEST_P(Family, LogitsAndGreedyTokens_AreTheReferencesByBothRoutes) {
  const Expected expected(folder() / "expected.safetensors");
  const double hub = RelativeError(WeightsOf<double>(folder()), expected);
  const double gguf = RelativeError(WeightsOf<double>(folder() / "model.gguf"), expected);
  const double fast = std::max(RelativeError(WeightsOf<float>(folder()), expected),
                               RelativeError(WeightsOf<float>(folder() / "model.gguf"), expected));
  std::printf("relative error: folder %.2g, GGUF %.2g, f32 %.2g\n", hub, gguf, fast);
  EXPECT_LT(hub, 1e-9);
  EXPECT_LT(gguf, 1e-5);
  EXPECT_LT(fast, 2e-4);
}

// One pass is the yardstick for: token by token, other targets and threads, a batch whose rows start late.
template <typename T>
void ExpectLaw(const std::shared_ptr<const DecoderWeights<T>>& weights, const std::vector<int32_t>& tokens) {
  Decoder<T> decoder(weights, Settings<T>(1));
  ContiguousCache cache(decoder.layout(), {.rows = 3, .max_len = 64});
  const std::vector<T> want = FeedRow<T>(decoder, cache, 0, tokens);
  const auto expect = [&](const std::vector<T>& got, const char* path) {
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), want.size() * sizeof(T)), 0) << path;
  };
  expect(FeedRow<T>(decoder, cache, 1, tokens, std::vector<int64_t>(tokens.size(), 1)), "token by token");
  Decoder<T> scalar(weights, Settings<T>(3, "scalar"));
  cache.Reset(0);
  expect(FeedRow<T>(scalar, cache, 0, tokens, {7, 1, 20, static_cast<int64_t>(tokens.size()) - 28}), "scalar, cut");
  for (int row = 0; row < 3; ++row) cache.Reset(row);
  FeedRow<T>(decoder, cache, 2, std::span(tokens).last(5));
  const int64_t vocabulary = decoder.config().vocabulary;
  std::vector<T> batched(2 * want.size());
  const StepRow rows[] = {{2, std::span(tokens).first(9), 0},
                          {0, tokens, static_cast<int64_t>(tokens.size())},
                          {1, std::span(tokens).last(11), 3}};
  decoder.Step(cache, rows, OutTo(batched.data()));
  batched.resize(tokens.size() * vocabulary);
  expect(batched, "with other rows");
}

TEST_P(Family, Law_HoldsForItsLayers) {
  const Expected expected(folder() / "expected.safetensors");
  ExpectLaw(WeightsOf<float>(folder()), expected.tokens);
  ExpectLaw(WeightsOf<double>(folder()), expected.tokens);
}

TEST_P(Family, SplitGgufFiles_GiveTheBitsOfTheWhole) {
  const ekvi::testing::TemporaryFolder folder_of_parts("split");
  const Expected expected(folder() / "expected.safetensors");
  const std::vector<std::string> parts = files::SplitGguf(files::GgufFile::Open(folder() / "model.gguf"), 3);
  std::vector<std::filesystem::path> paths;
  for (int i = 0; i < 3; ++i) paths.push_back(folder_of_parts.Write(files::PartName("model", i, 3), parts[i]));
  std::vector<std::vector<float>> logits;
  for (const auto& path : {folder() / "model.gguf", paths[0], paths[2]}) {
    Decoder<float> decoder(WeightsOf<float>(path), Settings<float>(1));
    ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = 64});
    logits.push_back(FeedRow<float>(decoder, cache, 0, expected.tokens));
  }
  EXPECT_EQ(logits[0], logits[1]);
  EXPECT_EQ(logits[0], logits[2]);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Family);
INSTANTIATE_TEST_SUITE_P(Tiny, Family, ::testing::ValuesIn(TinyModels()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace ekvi::model::testing
