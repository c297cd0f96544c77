// Goal: a GGUF file of the Llama family becomes the right configuration and weights, or is refused by the key. Method:
// files written from random models whose logits are known, doctored one key or tensor at a time, and the shared small
// models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>

#include "files/gguf_test_builder.h"
#include "files/reader_expect_error.h"
#include "model/decoder_testing.h"
#include "model/gguf_model.h"
#include "model/rope.h"
#include "model/weights_gguf.h"

namespace ekvi::model::testing {
namespace {

// A model as a GGUF file, tensor by tensor, so that a test can leave out or change a part.
struct LlamaFile {
  files::GgufBuilder keys;
  std::vector<std::tuple<std::string, std::vector<uint64_t>, std::vector<double>>> tensors;  // dims fastest first

  std::string Build() const {
    files::GgufBuilder builder = keys;
    for (const auto& [name, dims, values] : tensors) {
      std::string bytes;
      for (const double value : values) bytes += files::GgufBytes(static_cast<float>(value));
      builder.Tensor(name, dims, 0, bytes);
    }
    return builder.Build();
  }
};

// Rows of halves put where the file wants pairs: the inverse of HalvesFromPairs, written on its own.
std::vector<double> AsPairs(const std::vector<double>& halves, int64_t heads, int64_t head_dim, int64_t dims) {
  const int64_t columns = static_cast<int64_t>(halves.size()) / (heads * head_dim);
  std::vector<double> pairs = halves;
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < dims / 2; ++i) {
      for (int64_t half = 0; half < 2; ++half) {
        std::copy_n(halves.begin() + (h * head_dim + half * dims / 2 + i) * columns, columns,
                    pairs.begin() + (h * head_dim + 2 * i + half) * columns);
      }
    }
  }
  return pairs;
}

void WriteLayer(const TestModel& model, int index, LlamaFile& file) {
  const AttentionConfig& a = model.config.layers[index].attention;
  const BiasConfig& biases = model.config.layers[index].biases;
  const std::string from = "layers." + std::to_string(index) + ".", to = "blk." + std::to_string(index) + ".";
  const auto add = [&](const std::string& source, const std::string& name, std::vector<double> values) {
    const auto shape = model.source->Find(from + source)->shape;
    file.tensors.emplace_back(to + name, std::vector<uint64_t>(shape.rbegin(), shape.rend()), std::move(values));
  };
  const auto plain = [&](const std::string& source, const std::string& name) {
    add(source, name, model.source->Values(from + source));
  };
  const auto pairs = [&](const std::string& source, const std::string& name, int heads) {
    add(source, name, AsPairs(model.source->Values(from + source), heads, a.head_dim_k, a.rope->dims));
  };
  plain("attention_norm", "attn_norm.weight");
  plain("ffn_norm", "ffn_norm.weight");
  pairs("q", "attn_q.weight", a.q_heads);
  pairs("k", "attn_k.weight", a.kv_heads);
  plain("v", "attn_v.weight");
  plain("o", "attn_output.weight");
  for (const char* part : {"gate", "up", "down"}) plain(part, std::string("ffn_") + part + ".weight");
  if (biases.q)
    pairs("q_bias", "attn_q.bias", a.q_heads), pairs("k_bias", "attn_k.bias", a.kv_heads),
        plain("v_bias", "attn_v.bias");
}

LlamaFile FileOf(const TestModel& model) {
  const DecoderConfig& c = model.config;
  const AttentionConfig& a = c.layers[0].attention;
  LlamaFile file;
  file.keys.String("general.architecture", "llama")
      .U32("llama.context_length", static_cast<uint32_t>(c.context))
      .U32("llama.embedding_length", static_cast<uint32_t>(c.width))
      .U32("llama.block_count", static_cast<uint32_t>(c.layers.size()))
      .U32("llama.feed_forward_length", static_cast<uint32_t>(c.layers[0].ffn.width))
      .U32("llama.attention.head_count", static_cast<uint32_t>(a.q_heads))
      .U32("llama.attention.head_count_kv", static_cast<uint32_t>(a.kv_heads))
      .U32("llama.attention.key_length", static_cast<uint32_t>(a.head_dim_k))
      .U32("llama.attention.value_length", static_cast<uint32_t>(a.head_dim_v))
      .U32("llama.rope.dimension_count", static_cast<uint32_t>(a.rope->dims))
      .F32("llama.rope.freq_base", static_cast<float>(a.rope->base))
      .F32("llama.attention.layer_norm_rms_epsilon", static_cast<float>(c.final_norm->epsilon));
  const auto width = static_cast<uint64_t>(c.width), vocabulary = static_cast<uint64_t>(c.vocabulary);
  file.tensors.emplace_back("token_embd.weight", std::vector<uint64_t>{width, vocabulary},
                            model.source->Values("embedding"));
  file.tensors.emplace_back("output_norm.weight", std::vector<uint64_t>{width}, model.source->Values("final_norm"));
  if (!c.tied_head)
    file.tensors.emplace_back("output.weight", std::vector<uint64_t>{width, vocabulary}, model.source->Values("head"));
  for (size_t i = 0; i < c.layers.size(); ++i) WriteLayer(model, static_cast<int>(i), file);
  return file;
}

template <typename T>
std::shared_ptr<const DecoderWeights<T>> LoadFile(const std::string& bytes, int64_t pieces) {
  const auto file = files::GgufParts::Borrow(files::AsBytes(bytes), "memory.gguf");
  const FamilyModel model = ReadGgufModel(*file, pieces);
  base::ThreadPool pool(1);
  return LoadWeights<T>(model.config, model.names, GgufSource(file), pool);
}

template <typename T>
std::vector<T> Logits(std::shared_ptr<const DecoderWeights<T>> weights, const std::vector<int32_t>& tokens) {
  Decoder<T> decoder(std::move(weights), OwnSettings<T>());
  ContiguousCache cache(decoder.layout(), {.rows = 1, .max_len = static_cast<int64_t>(tokens.size())});
  return FeedRow<T>(decoder, cache, 0, tokens);
}

void ExpectSameAtPositions(const std::vector<float>& a, const std::vector<float>& b, int vocabulary) {
  ASSERT_EQ(a.size(), b.size());
  for (const int position : {0, 1, 7, 100}) {
    const auto at = static_cast<std::ptrdiff_t>(position * vocabulary);
    EXPECT_TRUE(std::equal(a.begin() + at, a.begin() + at + vocabulary, b.begin() + at)) << "position " << position;
  }
}

TEST(BR_13, PairsInTheFileAndHalvesElsewhere_GiveTheSameLogits) {
  const std::pair<int, int> heads[] = {{4, 4}, {8, 2}, {8, 4}, {6, 2}, {14, 2}};
  for (const auto& [q_heads, kv_heads] : heads) {
    for (const int dims : {8, 4}) {
      for (const bool biases : {false, true}) {
        DecoderConfig config = LlamaLike(q_heads, kv_heads);
        for (LayerConfig& layer : config.layers) {
          layer.attention.rope->dims = dims;
          layer.biases = {.q = biases, .k = biases, .v = biases};
        }
        const TestModel model = RandomModel(config, 41, DType::kF32);
        const std::vector<int32_t> tokens = RandomTokens(101, config.vocabulary, 42);
        const std::string file = FileOf(model).Build();
        ExpectSameAtPositions(Logits(LoadFile<float>(file, 41), tokens), Logits(model.Weights<float>(), tokens),
                              config.vocabulary);
      }
    }
  }
}

TEST(BR_14, FactorsInATensor_GiveTheFrequenciesOfTheConfiguration) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 43, DType::kF32);
  LlamaFile file = FileOf(model);
  const std::vector<double> divisors =
      Llama3Divisors(8, 10000, {.factor = 8, .low_freq = 1, .high_freq = 4, .original_context = 64});
  file.tensors.emplace_back("rope_freqs.weight", std::vector<uint64_t>{4}, divisors);
  const RopeConfig rope = *LoadFile<double>(file.Build(), 41)->config.layers[1].attention.rope;
  const std::vector<double> frequencies = RopeFrequencies(rope);
  for (int pair = 0; pair < 4; ++pair) {
    EXPECT_NEAR(frequencies[pair] * divisors[pair] / std::pow(10000, -2.0 * pair / 8), 1, 1e-6);
  }
}

TEST(BR_46, ExtraFactors_AreUsed) {
  const TestModel model = RandomModel(LlamaLike(4, 2), 44, DType::kF32);
  TestModel stretched = model;
  for (LayerConfig& layer : stretched.config.layers) layer.attention.rope->divisors = {1, 2, 4, 8};
  LlamaFile file = FileOf(model);
  file.tensors.emplace_back("rope_freqs.weight", std::vector<uint64_t>{4}, std::vector<double>{1, 2, 4, 8});
  const std::vector<int32_t> tokens = RandomTokens(20, 41, 45);
  const std::vector<float> logits = Logits(LoadFile<float>(file.Build(), 41), tokens);
  EXPECT_EQ(logits, Logits(stretched.Weights<float>(), tokens));
  EXPECT_NE(logits, Logits(model.Weights<float>(), tokens));
}

TEST(BR_46, NoOutputMatrix_MeansTheEmbeddingIsTheHead) {
  DecoderConfig config = LlamaLike(4, 2);
  config.tied_head = true;
  const TestModel model = RandomModel(config, 46, DType::kF32);
  const std::vector<int32_t> tokens = RandomTokens(20, 41, 47);
  EXPECT_EQ(Logits(LoadFile<float>(FileOf(model).Build(), 41), tokens), Logits(model.Weights<float>(), tokens));
}

TEST(Llama, WindowAndCountsPerLayer_AreObeyed) {
  LlamaFile file = FileOf(RandomModel(LlamaLike(4, 2), 48, DType::kF32));
  file.keys.U32("llama.attention.sliding_window", 7);
  const std::string bytes = file.Build();
  const auto gguf = files::GgufParts::Borrow(files::AsBytes(bytes), "memory.gguf");
  for (const LayerConfig& layer : ReadGgufModel(*gguf, 41).config.layers) EXPECT_EQ(layer.attention.window, 7);
}

TEST(Llama, CountsPerLayer_AreReadFromArrays) {
  files::GgufBuilder keys;
  keys.String("general.architecture", "llama").U32("llama.context_length", 64).U32("llama.embedding_length", 32);
  keys.U32("llama.block_count", 2).F32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  keys.Items<uint32_t>("llama.feed_forward_length", 4, {44, 20});
  keys.Items<int32_t>("llama.attention.head_count", 5, {4, 8});
  keys.Items<uint32_t>("llama.attention.head_count_kv", 4, {2, 4});
  keys.U32("llama.attention.key_length", 8).U32("llama.attention.value_length", 6);
  const std::string bytes = keys.Build();
  const FamilyModel model = ReadGgufModel(*files::GgufParts::Borrow(files::AsBytes(bytes), "memory.gguf"), 41);
  EXPECT_EQ(model.config.layers[0].ffn.width, 44);
  EXPECT_EQ(model.config.layers[1].ffn.width, 20);
  EXPECT_EQ(model.config.layers[1].attention.q_heads, 8);
  EXPECT_EQ(model.config.layers[1].attention.kv_heads, 4);
  EXPECT_EQ(model.config.layers[1].attention.head_dim_v, 6);
}

struct Refusal {
  ErrorCode code;
  std::initializer_list<std::string_view> words;
  std::function<void(LlamaFile&)> change;
};

void ExpectRefused(std::span<const Refusal> refusals) {
  for (const Refusal& refusal : refusals) {
    LlamaFile file = FileOf(RandomModel(LlamaLike(4, 2), 49, DType::kF32));
    refusal.change(file);
    const std::string bytes = file.Build();
    files::ExpectError(refusal.code, refusal.words, [&] { LoadFile<float>(bytes, 41); });
  }
}

TEST(Llama, WhatIsNotComputedOrOutOfRange_IsRefusedByKey) {
  constexpr ErrorCode kCorrupt = ErrorCode::kCorrupt, kUnsupported = ErrorCode::kUnsupported;
  const Refusal refusals[] = {
      {kUnsupported,
       {"llama.attention.causal", "false"},
       [](LlamaFile& f) { f.keys.Bool("llama.attention.causal", false); }},
      {kUnsupported,
       {"llama.rope.scaling.type", "spiral", "none, linear, yarn"},
       [](LlamaFile& f) { f.keys.String("llama.rope.scaling.type", "spiral"); }},
      {kCorrupt,
       {"llama.rope.scaling.type", "longrope", "rope_factors_short.weight"},
       [](LlamaFile& f) { f.keys.String("llama.rope.scaling.type", "longrope"); }},
      {kCorrupt,
       {"llama.rope.scaling.factor", "missing"},
       [](LlamaFile& f) { f.keys.String("llama.rope.scaling.type", "linear"); }},
      {kCorrupt,
       {"llama.rope.scaling.factor", "0 is out of range"},
       [](LlamaFile& f) { f.keys.String("llama.rope.scaling.type", "linear").F32("llama.rope.scaling.factor", 0); }},
      {kCorrupt,
       {"rope_freqs.weight", "[3]", "[4]"},
       [](LlamaFile& f) {
         f.tensors.emplace_back("rope_freqs.weight", std::vector<uint64_t>{3}, std::vector<double>(3, 1));
       }},
      {kCorrupt,
       {"rope_freqs.weight", "value 2 is 0"},
       [](LlamaFile& f) {
         f.tensors.emplace_back("rope_freqs.weight", std::vector<uint64_t>{4}, std::vector<double>{1, 1, 0, 1});
       }},
      {kCorrupt,
       {"llama.attention.sliding_window", "i64", "-1"},
       [](LlamaFile& f) { f.keys.Value("llama.attention.sliding_window", 11, files::GgufBytes<int64_t>(-1)); }},
      {kCorrupt,
       {"llama.block_count", "2 layers", "blk.2.attn_norm.weight"},
       [](LlamaFile& f) {
         f.tensors.emplace_back("blk.2.attn_norm.weight", std::vector<uint64_t>{3}, std::vector<double>(3, 1));
       }},
      {kCorrupt,
       {"blk.1.attn_q.weight", "not finite"},
       [](LlamaFile& f) {
         for (auto& [name, dims, values] : f.tensors) {
           if (name == "blk.1.attn_q.weight") values[100] = NAN;
         }
       }},
  };
  ExpectRefused(refusals);
}

TEST(Llama, ExpertsThatCannotBe_AreRefusedByKey) {
  constexpr ErrorCode kCorrupt = ErrorCode::kCorrupt, kUnsupported = ErrorCode::kUnsupported;
  const Refusal refusals[] = {
      {kCorrupt,
       {"llama.expert_count", "1025 is out of range"},
       [](LlamaFile& f) { f.keys.U32("llama.expert_count", 1025); }},
      {kCorrupt,
       {"llama.expert_used_count", "9 is out of range", "1 … 8"},
       [](LlamaFile& f) { f.keys.U32("llama.expert_count", 8).U32("llama.expert_used_count", 9); }},
      {kUnsupported,
       {"llama.expert_gating_func", "2"},
       [](LlamaFile& f) { f.keys.U32("llama.expert_count", 8).U32("llama.expert_gating_func", 2); }},
      {kUnsupported, {"llama.logit_scale"}, [](LlamaFile& f) { f.keys.F32("llama.logit_scale", 0.5f); }},
  };
  ExpectRefused(refusals);
}

TEST(Llama, HugeClaimsWithoutTensors_AreRefusedWithoutMemory) {
  files::GgufBuilder keys;
  keys.String("general.architecture", "llama").U32("llama.context_length", 64).U32("llama.embedding_length", 1 << 20);
  keys.U32("llama.block_count", 1024)
      .F32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .U32("llama.feed_forward_length", 1 << 20);
  keys.U32("llama.attention.head_count", 1024)
      .U32("llama.attention.key_length", 1024)
      .U32("llama.attention.value_length", 1024);
  const std::string bytes = keys.Build();
  files::ExpectError(ErrorCode::kCorrupt, {"token_embd.weight is missing"}, [&] { LoadFile<float>(bytes, 41); });
}

}  // namespace
}  // namespace ekvi::model::testing
