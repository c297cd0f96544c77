#include "model/model_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/fpenv.h"
#include "base/memory_limits.h"
#include "ekvi/error.h"
#include "model/family.h"
#include "model/weights_gguf.h"

namespace ekvi::model {
namespace {

// The type that most values of matrices have.
const files::GgufTensorType* MainType(const files::GgufFile& file) {
  const files::GgufTensorType* best = nullptr;
  uint64_t best_values = 0;
  for (const files::GgufTensor& candidate : file.tensors()) {
    if (candidate.type == best || candidate.dim_count < 2) continue;
    uint64_t values = 0;
    for (const files::GgufTensor& tensor : file.tensors()) {
      if (tensor.type == candidate.type && tensor.dim_count >= 2) values += tensor.values;
    }
    if (values > best_values) best_values = values, best = candidate.type;
  }
  return best;
}

std::vector<LayerInfo> LayersOf(const DecoderConfig& config) {
  std::vector<LayerInfo> layers;
  for (const LayerConfig& layer : config.layers) {
    const AttentionConfig& a = layer.attention;
    layers.push_back({a.q_heads, a.kv_heads, a.head_dim_k, a.head_dim_v, a.window});
  }
  return layers;
}

void DescribeFile(const files::GgufFile& file, ModelInfo& info) {
  info.architecture = file.RequireString("general.architecture");
  info.name = file.GetString("general.name").value_or("");
  if (info.name.empty()) info.name = std::filesystem::path(file.name()).filename().string();
  info.file_bytes = file.file_bytes();
  info.metadata = file.MetadataText();
  const files::GgufTensorType* main_type = MainType(file);
  info.weights = main_type != nullptr ? std::string(main_type->name) : "none";
  info.auto_cache_type = main_type != nullptr && main_type->format == numeric::Format::kF32 ? DType::kF32 : DType::kF16;
  for (const files::GgufTensor& tensor : file.tensors()) {
    info.parameters += tensor.values;
    if (!tensor.type->format) continue;  // of no type that is computed, and not needed: else it had been refused
    info.tensors.push_back({std::string(tensor.name), std::string(tensor.type->name), ShapeOf(tensor), tensor.bytes});
  }
}

void DescribeConfig(const DecoderConfig& config, ModelInfo& info) {
  info.context = config.context;
  info.vocabulary = config.vocabulary;
  info.width = static_cast<int>(config.width);
  info.feed_forward = static_cast<int>(config.layers.front().ffn.width);
  info.layers = LayersOf(config);
}

void RequireBlocks(const files::GgufFile& file) {
  const auto in_blocks = [](const files::GgufTensor& tensor) {
    return tensor.dim_count >= 2 && tensor.type->format && numeric::IsBlocks(*tensor.type->format);
  };
  if (std::ranges::any_of(file.tensors(), in_blocks)) return;
  const files::GgufTensorType* main_type = MainType(file);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: int8 arithmetic is for quantized weights", file.name()),
              fmt::format("this model's are {}", main_type != nullptr ? main_type->name : "none"),
              "leave --compute out, or use a quantized file of the model (Q8_0, Q4_K, …)");
}

LoadedModel LoadGguf(std::shared_ptr<const files::GgufFile> file, Compute compute) {
  const base::ScopedFpEnv environment;
  const Family& family = FamilyOf(*file);
  LoadedModel model;
  model.tokenizer = text::LoadTokenizer(*file);
  const FamilyModel read = family.read(*file, model.tokenizer->vocabulary().size());
  base::ThreadPool pool(base::GrantedThreads());
  const GgufSource source(file);
  if (compute == Compute::kInt8) RequireBlocks(*file);
  const bool rounded = compute == Compute::kInt8 || compute == Compute::kAuto;
  if (compute == Compute::kF64)
    model.f64 = LoadWeights<double>(read.config, read.names, source, pool);
  else
    model.f32 = LoadWeights<float>(read.config, read.names, source, pool,
                                   rounded ? BlockArithmetic::kInt8 : BlockArithmetic::kFloat);
  DescribeFile(*file, model.info);
  DescribeConfig(read.config, model.info);
  model.info.tokenizer = model.tokenizer->Description();
  model.info.compute = model.f64 ? "f64" : model.f32->int8() ? "int8" : "f32";
  model.info.peak_bytes = base::PeakResidentBytes();
  model.info.weight_bytes = model.f64 ? model.f64->bytes() : model.f32->bytes();
  if (model.f64) model.info.auto_cache_type = DType::kF64;
  return model;
}

}  // namespace

LoadedModel LoadModel(const std::filesystem::path& path, Compute compute) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{}: a folder", path.string()), "models are read from GGUF files",
                "convert the folder to GGUF, or name a file in it");
  }
  LoadedModel model = LoadGguf(std::make_shared<const files::GgufFile>(files::GgufFile::Open(path)), compute);
  model.info.path = path.string();
  return model;
}

LoadedModel LoadModelFrom(std::span<const std::byte> bytes, std::string name, Compute compute) {
  return LoadGguf(std::make_shared<const files::GgufFile>(files::GgufFile::Borrow(bytes, std::move(name))), compute);
}

}  // namespace ekvi::model
