// What must hold: an index beside two sound files is refused, or every tensor is found in a file of the folder. Input:
// a model.safetensors.index.json.
#include "files/gguf_test_builder.h"
#include "files/safetensors_folder.h"
#include "fuzzing.h"
#include "temporary_folder.h"

namespace ekvi::fuzzing {
namespace {

std::string File(std::string_view name) {
  const std::string json = "{\"" + std::string(name) + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  return files::GgufBytes<uint64_t>(json.size()) + json + "x";
}

const testing::TemporaryFolder& Folder() {
  static const testing::TemporaryFolder folder("index-fuzz");
  static const bool written = [] {
    folder.Write("one.safetensors", File("a"));
    folder.Write("two.safetensors", File("b"));
    return true;
  }();
  EKVI_CHECK(written);
  return folder;
}

}  // namespace

void TryInput(std::string_view input) {
  Folder().Write("model.safetensors.index.json", input);
  const auto weights = files::SafetensorsFolder::Open(Folder().path());
  for (const files::SafetensorsFile& file : weights.files()) {
    EKVI_CHECK(std::filesystem::path(file.name()).parent_path() == Folder().path());
    for (const files::SafetensorsTensor& tensor : file.tensors()) EKVI_CHECK(weights.Find(tensor.name).file == &file);
  }
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("models/bad", "model.safetensors.index.json", 8192);
  seeds.insert(seeds.end(),
               {R"({"metadata":{"total_size":2},"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})",
                R"({"weight_map":{"a":"one.safetensors"}})", R"({"weight_map":{"a":"../one.safetensors"}})",
                R"({"weight_map":{"a":"/dev/zero","b":"."}})", R"({"weight_map":{"a":3}})"});
  return seeds;
}

}  // namespace ekvi::fuzzing
