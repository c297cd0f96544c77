// Goal: what the tests of families share. Method: the readers one by one, as the loader calls them.
#include "model/family_testing.h"

#include <algorithm>

#include "files/json_object.h"
#include "files/safetensors_folder.h"
#include "model/gguf_model.h"
#include "model/hub_model.h"
#include "model/weights_gguf.h"
#include "model/weights_safetensors.h"
#include "shared_path.h"

namespace ekvi::model::testing {
namespace {

template <typename T>
std::shared_ptr<const DecoderWeights<T>> Loaded(const FamilyModel& model, const TensorSource& source) {
  base::ThreadPool pool(1);
  return LoadWeights<T>(model.config, model.names, source, pool);
}

template <typename T>
std::shared_ptr<const DecoderWeights<T>> OfParts(const std::shared_ptr<const files::GgufParts>& parts) {
  const auto pieces = static_cast<int64_t>(parts->first().RequireStrings("tokenizer.ggml.tokens").size());
  return Loaded<T>(ReadGgufModel(*parts, pieces), GgufSource(parts));
}

}  // namespace

template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOf(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return OfParts<T>(files::GgufParts::Open(path));
  const files::JsonValue json = files::ReadJson(path / "config.json");
  const files::JsonObject config(json, "config.json");
  const SafetensorsFolderSource source(
      std::make_shared<const files::SafetensorsFolder>(files::SafetensorsFolder::Open(path)));
  return Loaded<T>(ReadHubModel(config, source), source);
}

template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOfBytes(const std::string& bytes) {
  return OfParts<T>(files::GgufParts::Borrow(std::as_bytes(std::span(bytes)), "memory.gguf"));
}

std::vector<std::string> TinyModels() {
  std::vector<std::string> names;
  const std::filesystem::path folder = ekvi::testing::SharedPath("models/tiny");
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

template std::shared_ptr<const DecoderWeights<float>> WeightsOf(const std::filesystem::path&);
template std::shared_ptr<const DecoderWeights<double>> WeightsOf(const std::filesystem::path&);
template std::shared_ptr<const DecoderWeights<float>> WeightsOfBytes(const std::string&);
template std::shared_ptr<const DecoderWeights<double>> WeightsOfBytes(const std::string&);

}  // namespace ekvi::model::testing
