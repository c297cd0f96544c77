#include "files/safetensors_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "files/json_object.h"
#include "files/reader_error.h"

namespace ekvi::files {
namespace {

namespace fs = std::filesystem;

constexpr char kSingle[] = "model.safetensors", kIndex[] = "model.safetensors.index.json";
constexpr size_t kFilesMax = 1000;
// 65,536 tensors with names of a hundred bytes, and their files' names.
constexpr JsonLimits kIndexLimits{.bytes = size_t{16} << 20, .depth = 8, .values = size_t{1} << 17};

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

// "../../blobs/HASH": the Hub's cache keeps contents there and links them into snapshots.
bool IsCacheLink(const fs::path& target) {
  constexpr std::string_view kBlobs = "../../blobs/";
  const std::string text = target.string();
  if (!text.starts_with(kBlobs)) return false;
  const std::string_view hash = std::string_view(text).substr(kBlobs.size());
  return hash.size() >= 40 && hash.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void CheckShard(const std::string& index, const fs::path& folder, const std::string& name) {
  if (!IsPlainName(name)) {
    throw FileError(ErrorCode::kCorrupt, index, fmt::format("it names a file outside the folder: {}", Quote(name)),
                    "names of files in the same folder are wanted", "");
  }
  const fs::path path = folder / name;
  if (!Exists(path)) {
    throw FileError(ErrorCode::kNotFound, index, fmt::format("it names {}, which is not there", Quote(name)),
                    fmt::format("looked for {}", path.string()), "fetch the missing file");
  }
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(path, ignored)) && !IsCacheLink(fs::read_symlink(path, ignored))) {
    throw FileError(ErrorCode::kCorrupt, index, fmt::format("it names {}, a link out of the folder", Quote(name)),
                    fmt::format("to {}", Quote(fs::read_symlink(path, ignored).string())),
                    "put the file itself into the folder");
  }
}

}  // namespace

SafetensorsFolder SafetensorsFolder::Open(const fs::path& folder) {
  SafetensorsFolder opened(folder.string());
  if (Exists(folder / kSingle))
    opened.files_.push_back(SafetensorsFile::Open(folder / kSingle));
  else if (Exists(folder / kIndex))
    opened.OpenIndexed(folder, folder / kIndex);
  else {
    throw FileError(ErrorCode::kNotFound, folder.string(), "the folder has no weights",
                    fmt::format("looked for {} and {}", kSingle, kIndex), "fetch the model's .safetensors files");
  }
  opened.IndexNames();
  return opened;
}

void SafetensorsFolder::OpenIndexed(const fs::path& folder, const fs::path& index) {
  const std::string index_name = index.string();
  const JsonValue json = ReadJson(index, kIndexLimits);
  const JsonObject object(json, index_name);
  const auto map = object.Object("weight_map");
  if (!map) throw object.Missing("weight_map");
  std::map<std::string, size_t, std::less<>> numbers;
  for (const JsonMember& member : map->value().members) {
    if (member.value.kind != JsonKind::kString)
      throw map->KeyError(ErrorCode::kCorrupt, member.key, "no file name", member.value.ShortText());
    numbers.emplace(member.value.string, 0);
  }
  if (numbers.size() > kFilesMax) {
    throw FileError(ErrorCode::kUnsupported, index_name, "too many files",
                    fmt::format("{}, at most {}", numbers.size(), kFilesMax), "");
  }
  for (auto& [name, number] : numbers) {
    CheckShard(index_name, folder, name);
    number = files_.size();
    files_.push_back(SafetensorsFile::Open(folder / name));
  }
  for (const JsonMember& member : map->value().members) {
    const SafetensorsFile& file = files_[numbers.find(member.value.string)->second];
    if (file.Find(member.key) != nullptr) continue;
    throw FileError(ErrorCode::kCorrupt, index_name,
                    fmt::format("tensor {} is not in {}", Quote(member.key), Quote(member.value.string)),
                    fmt::format("that file has {} tensors", file.tensors().size()), "");
  }
}

void SafetensorsFolder::IndexNames() {
  std::vector<std::string_view> names;
  for (const SafetensorsFile& file : files_) {
    for (const SafetensorsTensor& tensor : file.tensors()) {
      places_.push_back({&file, &tensor});
      names.push_back(tensor.name);
    }
  }
  names_ = ReaderNames(names);
  const auto duplicate = names_.Duplicate();
  if (!duplicate) return;
  const auto first = std::ranges::find(names, names[*duplicate]) - names.begin();
  throw FileError(ErrorCode::kCorrupt, places_[*duplicate].file->name(),
                  fmt::format("tensor {} stands in two files", Quote(names[*duplicate])),
                  fmt::format("the other is {}", places_[first].file->name()), "");
}

SafetensorsFolder::Place SafetensorsFolder::Find(std::string_view name) const {
  const auto index = names_.Find(name);
  return index ? places_[*index] : Place{};
}

}  // namespace ekvi::files
