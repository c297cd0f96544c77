// Goal: real files give the logits that others computed, and broken ones are refused by name. Method: the shared
// models with float64 logits and greedy continuations, a trained model with its text, and the shared folder of broken
// files.
#include "model/model_loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "files/reader_expect_error.h"
#include "model/decoder_testing.h"
#include "shared_path.h"
#include "temporary_folder.h"

namespace ekvi::model::testing {
namespace {

using ekvi::testing::ContentOf;
using ekvi::testing::SharedPath;

// The trained model's text, then, since the window of the check is a cache's, also by blocks in another order.
template <typename T>
void ExpectStory(const LoadedModel& model, std::shared_ptr<const DecoderWeights<T>> weights, const std::string& text) {
  Decoder<T> decoder(std::move(weights), OwnSettings<T>(2));
  PagedCache cache(decoder.layout(), {.rows = 1, .max_len = 512, .block_tokens = 16, .block_count = 32});
  cache.ShuffleFreeBlocks(3);
  const int32_t begin[] = {*model.tokenizer->vocabulary().begin()};
  const std::string story = model.tokenizer->Decode(Continue<T>(decoder, cache, begin, 150));
  ASSERT_GT(story.size(), 300u);
  EXPECT_EQ(story.substr(0, text.size()), text.substr(0, story.size()));
}

TEST(Stories260K, GreedyText_IsTheReferences) {
  const std::filesystem::path path = SharedPath("models/stories260K.gguf");
  EKVI_SKIP_WITHOUT(path);
  const std::string text = ContentOf(SharedPath("models/stories260K.expected.txt"));
  const LoadedModel exact = LoadModel(path, Compute::kF64);
  ExpectStory<double>(exact, exact.f64, text);
  const LoadedModel fast = LoadModel(path, Compute::kAuto);
  ExpectStory<float>(fast, fast.f32, text);
}

TEST(ModelLoader, Description_SaysWhatTheFileHolds) {
  const std::filesystem::path path = SharedPath("models/stories260K.gguf");
  EKVI_SKIP_WITHOUT(path);
  const LoadedModel model = LoadModel(path, Compute::kAuto);
  EXPECT_EQ(model.info.name, "stories260K");
  EXPECT_EQ(model.info.architecture, "llama");
  EXPECT_EQ(model.info.weights, "F32");
  EXPECT_EQ(model.info.compute, "f32");
  EXPECT_EQ(model.info.auto_cache_type, DType::kF32);
  EXPECT_EQ(model.info.context, 512);
  EXPECT_EQ(model.info.vocabulary, 512);
  EXPECT_EQ(model.info.layers.size(), 5u);
  EXPECT_EQ(model.info.layers[4].kv_heads, 4);
  EXPECT_EQ(model.info.tensors.size(), 47u);
  EXPECT_EQ(model.info.tensors[0].shape, (std::vector<int64_t>{512, 64}));
  EXPECT_GT(model.info.weight_bytes, 1000000u);
  const LoadedModel f64 = LoadModel(path, Compute::kF64);
  EXPECT_EQ(f64.info.compute, "f64");
  EXPECT_EQ(f64.info.auto_cache_type, DType::kF64);
}

TEST(ModelLoader, BytesInMemory_LoadLikeTheFile) {
  const std::filesystem::path path = SharedPath("models/bad/good.gguf");
  EKVI_SKIP_WITHOUT(path);
  const std::string content = ContentOf(path);
  const LoadedModel model = LoadModelFrom(std::as_bytes(std::span(content)), "inside", Compute::kF32);
  EXPECT_EQ(model.info.path, "");
  EXPECT_EQ(model.info.name, "bad");
  EXPECT_EQ(model.config().vocabulary, 20);
}

TEST(ModelLoader, EveryBrokenFile_IsRefusedWithItsName) {
  const std::filesystem::path folder = SharedPath("models/bad");
  EKVI_SKIP_WITHOUT(folder);
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".gguf") continue;
    if (path.stem() == "good") {
      EXPECT_NO_THROW(LoadModel(path, Compute::kAuto));
      continue;
    }
    try {
      LoadModel(path, Compute::kAuto);
      ADD_FAILURE() << path << " was loaded";
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kCorrupt || error.code() == ErrorCode::kUnsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos) << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 40);
}

struct BadFile {
  const char* file;
  ErrorCode code;
  std::initializer_list<std::string_view> words;
};

TEST(ModelLoader, BrokenConfigurations_AreNamedByKeyAndNumbers) {
  EKVI_SKIP_WITHOUT(SharedPath("models/bad"));
  const BadFile files[] = {
      {"no_architecture", ErrorCode::kCorrupt, {"general.architecture"}},
      {"unknown_architecture", ErrorCode::kUnsupported, {"lama", "llama"}},
      {"missing_key", ErrorCode::kCorrupt, {"llama.embedding_length"}},
      {"missing_epsilon", ErrorCode::kCorrupt, {"llama.attention.layer_norm_rms_epsilon"}},
      {"missing_vocabulary", ErrorCode::kCorrupt, {"tokenizer.ggml.tokens"}},
      {"key_wrong_type", ErrorCode::kCorrupt, {"llama.attention.head_count", "string"}},
      {"missing_tensor", ErrorCode::kCorrupt, {"blk.0.attn_k.weight"}},
      {"tensor_shape", ErrorCode::kCorrupt, {"blk.0.attn_k.weight", "[8, 4]", "[4, 8]"}},
      {"vocab_mismatch", ErrorCode::kCorrupt, {"token_embd.weight", "20", "17"}},
      {"more_layers", ErrorCode::kCorrupt, {"blk.1."}},
      {"heads_0", ErrorCode::kCorrupt, {"llama.attention.head_count", "0"}},
      {"heads_not_dividing", ErrorCode::kCorrupt, {"llama.attention.head_count", "3", "8"}},
      {"rope_dims", ErrorCode::kCorrupt, {"llama.rope.dimension_count", "6", "4"}},
      {"epsilon_nan", ErrorCode::kCorrupt, {"llama.attention.layer_norm_rms_epsilon", "nan"}},
      {"bos_out_of_range", ErrorCode::kCorrupt, {"bos_token_id", "20"}},
      {"scores_mismatch", ErrorCode::kCorrupt, {"tokenizer.ggml.scores", "20", "19"}},
  };
  for (const BadFile& file : files) {
    files::ExpectError(file.code, file.words, [&] {
      LoadModel(SharedPath("models/bad") / (std::string(file.file) + ".gguf"), Compute::kAuto);
    });
  }
}

TEST(ModelLoader, WhatIsNoModel_IsRefused) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "ekvi-no-model";
  std::filesystem::create_directories(folder);
  files::ExpectError(ErrorCode::kNotFound, {"ekvi-no-model", "config.json", "GGUF"},
                     [&] { LoadModel(folder, Compute::kAuto); });
  files::ExpectError(ErrorCode::kNotFound, {"no-such-file.gguf"},
                     [] { LoadModel("no-such-file.gguf", Compute::kAuto); });
}

}  // namespace
}  // namespace ekvi::model::testing
