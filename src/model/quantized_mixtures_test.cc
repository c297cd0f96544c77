// Goal: experts stored in blocks give the logits of their values, in float and in 8-bit arithmetic, and a token's
// choice of experts and result do not depend on what else is in its step. Method: small random mixtures of three
// families, their experts in every block format, beside the same model with the experts' values as F32.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ekvi/machine.h"
#include "files/gguf_test_builder.h"
#include "model/decoder_testing.h"
#include "model/gguf_model.h"
#include "model/weights_gguf.h"
#include "numeric/block_testing.h"

namespace ekvi::model::testing {
namespace {

using files::GgufBuilder;
using files::GgufBytes;
using numeric::Format;

constexpr uint64_t kWidth = 256, kFfn = 256, kExperts = 5, kVocabulary = 40, kHeads = 4, kKvHeads = 2, kHeadDim = 64;
constexpr uint32_t kF32 = 0;
// In the order of numeric::kBlockFormats.
constexpr uint32_t kTypes[] = {2, 3, 6, 7, 8, 10, 11, 12, 13, 14, 20, 23, 39};
static_assert(std::size(kTypes) == std::size(numeric::kBlockFormats));

// How the experts' matrices are stored: as blocks, or as what the blocks stand for.
enum class Experts { kBlocks, kValues };

class Mixture {
 public:
  Mixture(std::string architecture, size_t format, Experts experts, int layers)
      : architecture_(std::move(architecture)), format_(format), experts_(experts) {
    Keys(layers);
    Matrix("token_embd.weight", {kWidth, kVocabulary}, 0.5);
    Matrix("output.weight", {kWidth, kVocabulary}, 0.05);
    Matrix("output_norm.weight", {kWidth}, 0.2, 1);
    for (int i = 0; i < layers; ++i) Layer("blk." + std::to_string(i) + ".");
  }
  std::string Build() const { return builder_.Build(); }

 private:
  bool oss() const { return architecture_ == "gpt-oss"; }

  void Keys(int layers) {
    const auto key = [&](const char* name) { return architecture_ + "." + name; };
    builder_.String("general.architecture", architecture_).U32(key("block_count"), static_cast<uint32_t>(layers));
    builder_.U32(key("embedding_length"), kWidth).U32(key("context_length"), 64).U32(key("feed_forward_length"), kFfn);
    builder_.U32(key("attention.head_count"), kHeads).U32(key("attention.head_count_kv"), kKvHeads);
    builder_.U32(key("expert_count"), kExperts).U32(key("expert_used_count"), 2);
    builder_.F32(key("attention.layer_norm_rms_epsilon"), 1e-5f);
    if (oss()) builder_.U32(key("attention.sliding_window"), 7);
  }

  void Layer(const std::string& block) {
    Matrix(block + "attn_norm.weight", {kWidth}, 0.2, 1);
    Matrix(block + (oss() ? "post_attention_norm.weight" : "ffn_norm.weight"), {kWidth}, 0.2, 1);
    Matrix(block + "attn_q.weight", {kWidth, kHeads * kHeadDim}, 0.05);
    Matrix(block + "attn_k.weight", {kWidth, kKvHeads * kHeadDim}, 0.05);
    Matrix(block + "attn_v.weight", {kWidth, kKvHeads * kHeadDim}, 0.05);
    Matrix(block + "attn_output.weight", {kHeads * kHeadDim, kWidth}, 0.05);
    if (architecture_ == "qwen3moe") {
      Matrix(block + "attn_q_norm.weight", {kHeadDim}, 0.2, 1);
      Matrix(block + "attn_k_norm.weight", {kHeadDim}, 0.2, 1);
    }
    if (oss()) {
      Matrix(block + "attn_sinks.weight", {kHeads}, 1);
      Matrix(block + "ffn_gate_inp.bias", {kExperts}, 0.1);
      for (const char* part : {"gate", "up", "down"})
        Matrix(block + "ffn_" + part + "_exps.bias", {kWidth, kExperts}, 0.1);
    }
    Matrix(block + "ffn_gate_inp.weight", {kWidth, kExperts}, 0.1);
    for (const char* part : {"gate", "up", "down"}) Blocks(block + "ffn_" + part + "_exps.weight");
  }

  void Matrix(const std::string& name, const std::vector<uint64_t>& dims, double size, double middle = 0) {
    uint64_t count = 1;
    for (const uint64_t dim : dims) count *= dim;
    std::string data;
    for (uint64_t i = 0; i < count; ++i) data += GgufBytes(static_cast<float>(middle + size * random_.Normal()));
    builder_.Tensor(name, dims, kF32, data);
  }

  void Blocks(const std::string& name) {
    constexpr size_t kCount = kWidth * kFfn * kExperts;
    const Format format = numeric::kBlockFormats[format_];
    const numeric::RandomValues blocks(format, kCount, random_);
    if (experts_ == Experts::kBlocks) {
      const std::string stored(reinterpret_cast<const char*>(blocks.data()), numeric::FormatBytes(format, kCount));
      builder_.Tensor(name, {kWidth, kFfn, kExperts}, kTypes[format_], stored);
      return;
    }
    std::vector<float> values(kCount);
    numeric::Decode(format, blocks.data(), values.data(), kCount);
    builder_.Tensor(name, {kWidth, kFfn, kExperts}, kF32,
                    {reinterpret_cast<const char*>(values.data()), kCount * sizeof(float)});
  }

  std::string architecture_;
  size_t format_;
  Experts experts_;
  base::Random random_{7};
  GgufBuilder builder_;
};

template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOf(const std::string& bytes, BlockArithmetic arithmetic) {
  const auto parts = files::GgufParts::Borrow(files::AsBytes(bytes), "mixture");
  const FamilyModel model = ReadGgufModel(*parts, kVocabulary);
  base::ThreadPool pool(2);
  return LoadWeights<T>(model.config, model.names, GgufSource(parts), pool, arithmetic);
}

template <typename T>
std::vector<T> Logits(Decoder<T>& decoder, const std::vector<int32_t>& tokens, const std::vector<int64_t>& counts) {
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = static_cast<int64_t>(tokens.size())});
  return FeedRow<T>(decoder, cache, 0, tokens, counts);
}

template <typename T>
std::vector<T> LogitsOf(const std::string& bytes, BlockArithmetic arithmetic, const std::vector<int32_t>& tokens) {
  Decoder<T> decoder(WeightsOf<T>(bytes, arithmetic), OwnSettings<T>(2));
  return Logits<T>(decoder, tokens, {static_cast<int64_t>(tokens.size())});
}

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

constexpr const char* kArchitectures[] = {"llama", "qwen3moe", "gpt-oss"};

TEST(QuantizedMixtures, EveryFormatOfExperts_GivesTheLogitsOfItsValues) {
  const std::vector<int32_t> tokens = RandomTokens(16, kVocabulary, 3);
  double worst_f32 = 0, worst_int8 = 0;
  for (const char* architecture : kArchitectures) {
    for (size_t format = 0; format < std::size(kTypes); ++format) {
      SCOPED_TRACE(std::string(architecture) + ", type " + std::to_string(kTypes[format]));
      const std::string blocks = Mixture(architecture, format, Experts::kBlocks, 1).Build();
      const std::string values = Mixture(architecture, format, Experts::kValues, 1).Build();
      const std::vector<double> want = LogitsOf<double>(values, BlockArithmetic::kFloat, tokens);
      const double size = Largest(want);
      EXPECT_LT(WorstDifference(LogitsOf<double>(blocks, BlockArithmetic::kFloat, tokens), want), 1e-6 * size);
      const double f32 = WorstDifference(LogitsOf<float>(blocks, BlockArithmetic::kFloat, tokens), want) / size;
      const double int8 = WorstDifference(LogitsOf<float>(blocks, BlockArithmetic::kInt8, tokens), want) / size;
      EXPECT_LT(f32, 1e-5);
      EXPECT_LT(int8, 0.08);  // the choice of experts is made before, of the same numbers
      EXPECT_GT(int8, f32);   // it is another arithmetic
      worst_f32 = std::max(worst_f32, f32), worst_int8 = std::max(worst_int8, int8);
    }
  }
  std::printf("worst: f32 %.1e, int8 %.1e of the largest logit\n", worst_f32, worst_int8);
}

TEST(QuantizedMixtures, CutsThreadsAndTargets_ChangeNoBitInEitherArithmetic) {
  const std::vector<int32_t> tokens = RandomTokens(12, kVocabulary, 4);
  for (size_t format = 0; format < std::size(kTypes); ++format) {
    for (const char* architecture : {kArchitectures[format % std::size(kArchitectures)]}) {
      const std::string bytes = Mixture(architecture, format, Experts::kBlocks, 2).Build();
      for (const BlockArithmetic arithmetic : {BlockArithmetic::kFloat, BlockArithmetic::kInt8}) {
        const auto weights = WeightsOf<float>(bytes, arithmetic);
        Decoder<float> reference(weights, OwnSettings<float>(1, "scalar"));
        const std::vector<float> want = Logits<float>(reference, tokens, {12});
        for (const std::string& target : DescribeMachine().targets) {
          Decoder<float> decoder(weights, OwnSettings<float>(3, target));
          for (const std::vector<int64_t>& counts : {std::vector<int64_t>(12, 1), {12}, {1, 2, 4, 5}})
            EXPECT_EQ(Logits<float>(decoder, tokens, counts), want) << architecture << " " << format << " " << target;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ekvi::model::testing
