#include "model/model_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "base/fpenv.h"
#include "base/memory_limits.h"
#include "ekvi/error.h"
#include "files/reader_error.h"
#include "model/gguf_model.h"
#include "model/hub_model.h"
#include "model/weights_gguf.h"
#include "model/weights_safetensors.h"

namespace ekvi::model {
namespace {

namespace fs = std::filesystem;

// The type that most values of matrices have.
class MainType {
 public:
  void Count(std::string_view type, uint64_t values) { values_[type] += values; }
  std::string_view name() const {
    const auto most = std::max_element(values_.begin(), values_.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == values_.end() ? "none" : most->first;
  }

 private:
  std::map<std::string_view, uint64_t> values_;
};

double RopeFactor(const RopeConfig& rope) {
  const std::vector<double>& divisors = rope.long_divisors.empty() ? rope.divisors : rope.long_divisors;
  return divisors.empty() ? 1 : *std::ranges::max_element(divisors);
}

LayerInfo InfoOf(const LayerConfig& layer) {
  const AttentionConfig& a = layer.attention;
  return {.q_heads = a.q_heads,
          .kv_heads = a.kv_heads,
          .head_dim_k = a.head_dim_k,
          .head_dim_v = a.head_dim_v,
          .window = a.window,
          .feed_forward = layer.ffn.width,
          .experts = layer.ffn.experts.count,
          .experts_used = layer.ffn.experts.used,
          .rope_dims = a.rope ? a.rope->dims : 0,
          .rope_base = a.rope ? a.rope->base : 0,
          .rope_scaled = a.rope && !a.rope->divisors.empty(),
          .rope_factor = a.rope ? RopeFactor(*a.rope) : 1};
}

// The context that sessions have unless more is asked for: LongRoPE's short table is the better one where it reaches.
int64_t DefaultContext(const DecoderConfig& config) {
  int64_t context = config.context;
  for (const LayerConfig& layer : config.layers) {
    if (layer.attention.rope && !layer.attention.rope->long_divisors.empty())
      context = std::min(context, layer.attention.rope->short_context);
  }
  return context;
}

void DescribeConfig(const DecoderConfig& config, ModelInfo& info) {
  info.context = config.context;
  info.default_context = DefaultContext(config);
  info.vocabulary = config.vocabulary;
  info.width = static_cast<int>(config.width);
  info.feed_forward = static_cast<int>(config.layers.front().ffn.width);
  for (const LayerConfig& layer : config.layers) info.layers.push_back(InfoOf(layer));
}

void DescribeTypes(const MainType& main_type, ModelInfo& info) {
  info.weights = main_type.name();
  const bool wide = info.weights == "F32" || info.weights == "F64";
  info.auto_cache_type = wide ? DType::kF32 : DType::kF16;
}

void DescribeGguf(const files::GgufParts& parts, ModelInfo& info) {
  const files::GgufFile& file = parts.first();
  info.architecture = file.RequireString("general.architecture");
  info.name = file.GetString("general.name").value_or("");
  if (info.name.empty()) info.name = fs::path(file.name()).filename().string();
  info.file_bytes = parts.file_bytes();
  info.metadata = file.MetadataText();
  MainType main_type;
  for (const auto& [holder, tensor] : parts.tensors()) {
    info.parameters += tensor->values;
    if (tensor->dim_count >= 2) main_type.Count(tensor->type->name, tensor->values);
    if (!tensor->type->format) continue;  // of no type that is computed, and not needed: else it had been refused
    info.tensors.push_back(
        {std::string(tensor->name), std::string(tensor->type->name), ShapeOf(*tensor), tensor->bytes});
  }
  DescribeTypes(main_type, info);
}

void DescribeFolder(const fs::path& folder, const files::JsonObject& config, const files::SafetensorsFolder& weights,
                    ModelInfo& info) {
  info.architecture = config.String("model_type").value_or("");
  const fs::path name = folder.filename().empty() ? folder.parent_path().filename() : folder.filename();
  info.name = name.string();
  for (const files::JsonMember& member : config.value().members)
    info.metadata.emplace_back(member.key, member.value.ShortText());
  MainType main_type;
  for (const files::SafetensorsFile& file : weights.files()) {
    info.file_bytes += file.file_bytes();
    for (const files::SafetensorsTensor& tensor : file.tensors()) {
      const uint64_t bytes = tensor.end - tensor.begin, values = bytes * 8 / tensor.type->bits;
      const auto dtype = ComputedSafetensorsType(tensor.type->name);
      info.parameters += values;
      if (tensor.shape.size() >= 2) main_type.Count(tensor.type->name, values);
      if (!dtype) continue;
      info.tensors.push_back(
          {tensor.name, std::string(tensor.type->name), {tensor.shape.begin(), tensor.shape.end()}, bytes});
    }
  }
  DescribeTypes(main_type, info);
}

[[noreturn]] void RefuseInt8(const std::string& file, const std::string& weights) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: int8 arithmetic is for quantized weights", file),
              fmt::format("this model's are {}", weights),
              "leave --compute out, or use a quantized file of the model (Q8_0, Q4_K, …)");
}

// What the readers of keys let pass and the decoder does not compute is the file's fault, not the caller's.
void CheckComputable(const DecoderConfig& config, const std::string& file) {
  try {
    Validate(config);
  } catch (const Error& error) {
    throw files::FileError(ErrorCode::kUnsupported, file, "describes a model that is not computed", error.summary(),
                           "");
  }
}

// What follows once files have become a configuration and names.
void Pack(const FamilyModel& read, const TensorSource& source, Compute compute, LoadedModel& model) {
  CheckComputable(read.config, source.file());
  base::ThreadPool pool(base::GrantedThreads());
  const bool rounded = compute == Compute::kInt8 || compute == Compute::kAuto;
  if (compute == Compute::kF64)
    model.f64 = LoadWeights<double>(read.config, read.names, source, pool);
  else
    model.f32 = LoadWeights<float>(read.config, read.names, source, pool,
                                   rounded ? BlockArithmetic::kInt8 : BlockArithmetic::kFloat);
  if (compute == Compute::kInt8 && !model.f32->int8()) RefuseInt8(source.file(), model.info.weights);
  DescribeConfig(read.config, model.info);
  model.info.tokenizer = model.tokenizer ? model.tokenizer->Description() : "none";
  model.info.compute = model.f64 ? "f64" : model.f32->int8() ? "int8" : "f32";
  model.info.peak_bytes = base::PeakResidentBytes();
  model.info.weight_bytes = model.f64 ? model.f64->bytes() : model.f32->bytes();
  if (model.f64) model.info.auto_cache_type = DType::kF64;
}

LoadedModel LoadGguf(std::shared_ptr<const files::GgufParts> parts, Compute compute) {
  const base::ScopedFpEnv environment;
  LoadedModel model;
  // The architecture first: a file of another one may have any vocabulary.
  CheckArchitecture(parts->first());
  model.tokenizer = text::LoadTokenizer(parts->first());
  const FamilyModel read = ReadGgufModel(*parts, model.tokenizer->vocabulary().size());
  DescribeGguf(*parts, model.info);
  Pack(read, GgufSource(parts), compute, model);
  return model;
}

// Null where the folder has none.
std::unique_ptr<const text::Tokenizer> FolderTokenizer(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "tokenizer.json", ignored) ? text::LoadTokenizerFolder(folder) : nullptr;
}

// A folder that somebody keeps GGUF files in is not one model: throws with the first of their names, if there are any.
void RefuseFolderOfGguf(const fs::path& folder) {
  static constexpr size_t kShown = 5, kLooked = 1000;
  std::vector<std::string> names;
  std::error_code error;
  size_t looked = 0;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (++looked > kLooked) break;
    if (entry->path().extension() == ".gguf") names.push_back(entry->path().filename().string());
  }
  if (names.empty()) return;
  std::ranges::sort(names);
  const size_t shown = std::min(names.size(), kShown);
  std::string list;
  for (size_t i = 0; i < shown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) list += fmt::format(" and {} more", names.size() - shown);
  throw files::FileError(ErrorCode::kNotFound, folder.string(), "the folder holds GGUF files: one of them is a model",
                         list, "name the file: " + (folder / names[0]).string());
}

LoadedModel LoadFolder(const fs::path& folder, Compute compute) {
  const base::ScopedFpEnv environment;
  const fs::path config_path = folder / "config.json";
  std::error_code ignored;
  if (!fs::exists(config_path, ignored)) {
    RefuseFolderOfGguf(folder);
    throw files::FileError(ErrorCode::kNotFound, folder.string(), "config.json is missing",
                           "a folder with config.json and .safetensors files is wanted",
                           "name a folder in the format of Hugging Face, or a GGUF file");
  }
  const files::JsonValue json = files::ReadJson(config_path);
  const files::JsonObject config(json, config_path.string());
  const auto weights = std::make_shared<const files::SafetensorsFolder>(files::SafetensorsFolder::Open(folder));
  const SafetensorsFolderSource source(weights);
  const FamilyModel read = ReadHubModel(config, source);
  LoadedModel model;
  model.tokenizer = FolderTokenizer(folder);
  DescribeFolder(folder, config, *weights, model.info);
  Pack(read, source, compute, model);
  return model;
}

}  // namespace

LoadedModel LoadModel(const fs::path& path, Compute compute) {
  std::error_code ignored;
  LoadedModel model =
      fs::is_directory(path, ignored) ? LoadFolder(path, compute) : LoadGguf(files::GgufParts::Open(path), compute);
  model.info.path = path.string();
  return model;
}

LoadedModel LoadModelFrom(std::span<const std::byte> bytes, std::string name, Compute compute) {
  return LoadGguf(files::GgufParts::Borrow(bytes, std::move(name)), compute);
}

}  // namespace ekvi::model
