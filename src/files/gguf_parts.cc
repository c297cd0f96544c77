#include "files/gguf_parts.h"

#include <fmt/core.h>

#include <algorithm>

#include "files/reader_error.h"

namespace ekvi::files {
namespace {

constexpr uint64_t kPartsMax = 1000;
// Of keys and tensors in all files together: as many as one file may have. Each takes about 100 bytes.
constexpr size_t kEntriesMax = size_t{2} << 16;
constexpr std::string_view kNo = "split.no", kCount = "split.count", kTensors = "split.tensors.count";

uint64_t PartCount(const GgufFile& file) {
  const uint64_t count = file.GetUint(kCount).value_or(1);
  if (count <= kPartsMax) return std::max<uint64_t>(count, 1);
  throw file.KeyError(ErrorCode::kCorrupt, kCount, fmt::format("{} files are too many", Digits(count)),
                      fmt::format("at most {}", kPartsMax));
}

// The file's name without "-00002-of-00003.gguf".
std::filesystem::path StemOf(const std::filesystem::path& path, const GgufFile& file, uint64_t count) {
  const uint64_t number = file.RequireUint(kNo);
  const std::string text = path.string(), ending = fmt::format("-{:05}-of-{:05}.gguf", number + 1, count);
  if (number < count && text.ends_with(ending)) return text.substr(0, text.size() - ending.size());
  throw file.KeyError(
      ErrorCode::kCorrupt, kNo, "the file's name does not say which of several files it is",
      fmt::format("split.no {}, split.count {}; a name that ends in {} is wanted", number, count, ending),
      "rename the files to NAME-00001-of-0000n.gguf and so on");
}

void CheckPart(const GgufFile& file, uint64_t number, uint64_t count) {
  if (file.RequireUint(kNo) == number && PartCount(file) == count) return;
  throw file.KeyError(ErrorCode::kCorrupt, kNo, "the files of the model do not belong together",
                      fmt::format("this one says {} of {}, its name {} of {} (counted from 0)", file.RequireUint(kNo),
                                  PartCount(file), number, count),
                      "fetch all files of the same model");
}

void CheckEntries(const GgufFile& file, size_t entries) {
  if (entries <= kEntriesMax) return;
  throw FileError(ErrorCode::kUnsupported, file.name(), "the files of the model have too many keys and tensors",
                  fmt::format("{} up to this one, at most {}", Digits(entries), Digits(kEntriesMax)), "");
}

}  // namespace

std::shared_ptr<const GgufParts> GgufParts::Open(const std::filesystem::path& path) {
  std::vector<GgufFile> files;
  files.push_back(GgufFile::OpenPart(path));
  const uint64_t count = PartCount(files.front());
  if (count > 1) {
    const std::string stem = StemOf(path, files.front(), count).string();
    files.clear();
    size_t entries = 0;
    for (uint64_t number = 0; number < count; ++number) {
      files.push_back(GgufFile::OpenPart(fmt::format("{}-{:05}-of-{:05}.gguf", stem, number + 1, count)));
      CheckPart(files.back(), number, count);
      CheckEntries(files.back(), entries += files.back().values().size() + files.back().tensors().size());
    }
  }
  return std::shared_ptr<const GgufParts>(new GgufParts(std::move(files)));
}

std::shared_ptr<const GgufParts> GgufParts::Borrow(std::span<const std::byte> bytes, std::string name) {
  std::vector<GgufFile> files;
  files.push_back(GgufFile::Borrow(bytes, std::move(name)));
  return std::shared_ptr<const GgufParts>(new GgufParts(std::move(files)));
}

GgufParts::GgufParts(std::vector<GgufFile> files) : files_(std::move(files)) {
  std::vector<std::string_view> names;
  for (const GgufFile& file : files_) {
    for (const GgufTensor& tensor : file.tensors()) {
      places_.push_back({&file, &tensor});
      names.push_back(tensor.name);
    }
  }
  names_ = ReaderNames(names);
  CheckTogether();
}

void GgufParts::CheckTogether() const {
  if (files_.size() == 1) return;
  const auto total = first().GetUint(kTensors);
  if (total && *total != places_.size()) {
    throw first().KeyError(ErrorCode::kCorrupt, kTensors, "the files hold another number of tensors",
                           fmt::format("{} said, {} in {} files", Digits(*total), places_.size(), files_.size()),
                           "fetch all files of the same model");
  }
  const auto duplicate = names_.Duplicate();
  if (!duplicate) return;
  const Place& place = places_[*duplicate];
  throw FileError(ErrorCode::kCorrupt, place.file->name(),
                  fmt::format("tensor {} stands in another file of the model too", Quote(place.tensor->name)),
                  fmt::format("{} files", files_.size()), "");
}

uint64_t GgufParts::file_bytes() const {
  uint64_t bytes = 0;
  for (const GgufFile& file : files_) bytes += file.file_bytes();
  return bytes;
}

GgufParts::Place GgufParts::Find(std::string_view name) const {
  const auto index = names_.Find(name);
  return index ? places_[*index] : Place{};
}

}  // namespace ekvi::files
