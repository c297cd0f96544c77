// Goal: models in every stored format give the logits of their values, exactly in float64, closely in float32, and with
// 8-bit activations within what those cost. Method: the shared models of src/model's formats with logits that another
// implementation computed from its own decoding; the errors are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ekvi/machine.h"
#include "files/safetensors.h"
#include "model/decoder_testing.h"
#include "model/gguf_model.h"
#include "model/weights_gguf.h"
#include "numeric/block_format.h"
#include "shared_path.h"

namespace ekvi::model::testing {
namespace {

using ekvi::testing::SharedPath;

constexpr const char* kFiles[] = {"f16",    "bf16",   "q8_0",   "q4_0", "q4_1",   "q5_0",   "q5_1", "q2_k",
                                  "q3_k_m", "q4_k_m", "q5_k_m", "q6_k", "iq4_nl", "iq4_xs", "mxfp4"};

template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOf(const std::string& name, BlockArithmetic arithmetic) {
  const auto parts = files::GgufParts::Open(SharedPath("models/quant") / (name + ".gguf"));
  const auto pieces = static_cast<int64_t>(parts->first().RequireStrings("tokenizer.ggml.tokens").size());
  const FamilyModel model = ReadGgufModel(*parts, pieces);
  base::ThreadPool pool(2);
  return LoadWeights<T>(model.config, model.names, GgufSource(parts), pool, arithmetic);
}

// The logits of all tokens, fed in the given counts.
template <typename T>
std::vector<T> Logits(Decoder<T>& decoder, std::span<const int32_t> tokens, const std::vector<int64_t>& counts) {
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = static_cast<int64_t>(tokens.size())});
  return FeedRow<T>(decoder, cache, 0, tokens, counts);
}

struct Comparison {
  double error = 0, size = 0;  // largest difference, largest logit expected
  int same_best = 0, rows = 0;
};

template <typename T>
Comparison Compare(const std::string& name, BlockArithmetic arithmetic) {
  Decoder<T> decoder(WeightsOf<T>(name, arithmetic), OwnSettings<T>(2));
  const auto reference = files::SafetensorsFile::Open(SharedPath("models/quant") / (name + ".expected.safetensors"));
  const std::vector<int64_t> ids = reference.ReadI64("tokens");
  const std::vector<double> want = reference.ReadF64("logits");
  const std::vector<int32_t> tokens(ids.begin(), ids.end());
  const std::vector<T> got = Logits<T>(decoder, tokens, {static_cast<int64_t>(tokens.size())});
  Comparison result;
  const auto vocabulary = static_cast<size_t>(decoder.config().vocabulary);
  for (size_t i = 0; i < want.size(); ++i) {
    result.error = std::max(result.error, std::fabs(static_cast<double>(got[i]) - want[i]));
    result.size = std::max(result.size, std::fabs(want[i]));
  }
  for (size_t row = 0; row < tokens.size(); ++row) {
    const auto best = [&](const auto& logits) {
      const auto first = logits.begin() + static_cast<int64_t>(row * vocabulary);
      return std::max_element(first, first + static_cast<int64_t>(vocabulary)) - first;
    };
    result.same_best += best(got) == best(want);
    ++result.rows;
  }
  return result;
}

TEST(QuantizedModels, EveryFormat_GivesTheLogitsOfItsValues) {
  for (const char* name : kFiles) {
    const Comparison f64 = Compare<double>(name, BlockArithmetic::kFloat);
    const Comparison f32 = Compare<float>(name, BlockArithmetic::kFloat);
    EXPECT_LT(f64.error, 1e-9 * f64.size) << name;
    EXPECT_LT(f32.error, 1e-4) << name;
    EXPECT_EQ(f32.same_best, f32.rows) << name;
  }
}

TEST(QuantizedModels, CutsThreadsAndTargets_ChangeNoBitInEitherArithmetic) {
  for (const char* name : kFiles) {
    for (const BlockArithmetic arithmetic : {BlockArithmetic::kFloat, BlockArithmetic::kInt8}) {
      const auto weights = WeightsOf<float>(name, arithmetic);
      const std::vector<int32_t> tokens = RandomTokens(24, weights->config.vocabulary, 5);
      Decoder<float> reference(weights, OwnSettings<float>(1, "scalar"));
      const std::vector<float> want = Logits<float>(reference, tokens, {24});
      for (const std::string& target : DescribeMachine().targets) {
        if (target == "scalar") continue;
        Decoder<float> decoder(weights, OwnSettings<float>(3, target));
        for (const std::vector<int64_t>& counts : {std::vector<int64_t>(24, 1), {24}, {1, 2, 3, 5, 6, 7}}) {
          EXPECT_EQ(Logits<float>(decoder, tokens, counts), want) << name << " " << target;
        }
      }
    }
  }
}

// Bounds are about twice what was measured (docs/measurements.md): the model is random, so that its logits lie closer
// together than those of a trained one.
TEST(QuantizedModels, EightBitActivations_CostWhatIsWritten) {
  int same = 0, rows = 0;
  for (const char* name : kFiles) {
    const Comparison int8 = Compare<float>(name, BlockArithmetic::kInt8);
    std::printf("%-7s largest error %.3f of %.1f, same best token %d/%d\n", name, int8.error, int8.size, int8.same_best,
                int8.rows);
    EXPECT_LT(int8.error, 0.06 * int8.size) << name;
    EXPECT_GE(int8.same_best, int8.rows - 3) << name;
    same += int8.same_best;
    rows += int8.rows;
  }
  EXPECT_GE(same, rows * 95 / 100);
}

}  // namespace
}  // namespace ekvi::model::testing
