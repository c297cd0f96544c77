#include "files/safetensors_writer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/checked.h"
#include "base/output_file.h"
#include "base/utf8.h"
#include "files/reader_error.h"

namespace ekvi::files {
namespace {

// Keeps members in the order they are set in.
using Json = nlohmann::ordered_json;

constexpr size_t kNameBytesMax = 512;
constexpr size_t kAlignment = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

Error BadTensor(std::string_view name, std::string_view what, std::string numbers) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("safetensors tensor {}: {}", Quote(name), what),
               std::move(numbers), "a name of its own, and a shape of as many values as there are");
}

void RequireUtf8(std::string_view text) {
  if (base::IsUtf8(text)) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("safetensors header: {} is not UTF-8", Quote(text)), "",
              "names and metadata in UTF-8");
}

}  // namespace

void SafetensorsWriter::AddMetadata(std::string key, std::string value) {
  if (std::ranges::find(metadata_, key, &std::pair<std::string, std::string>::first) != metadata_.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("safetensors metadata {}: stands already", Quote(key)), "",
                "another key, or one value for it");
  }
  metadata_.emplace_back(std::move(key), std::move(value));
}

void SafetensorsWriter::Add(std::string name, Shape shape, std::span<const double> values) {
  AddBytes({std::move(name), FindSafetensorsType("F64"), std::move(shape), std::as_bytes(values)});
}

void SafetensorsWriter::Add(std::string name, Shape shape, std::span<const float> values) {
  AddBytes({std::move(name), FindSafetensorsType("F32"), std::move(shape), std::as_bytes(values)});
}

void SafetensorsWriter::Add(std::string name, Shape shape, std::span<const int64_t> values) {
  AddBytes({std::move(name), FindSafetensorsType("I64"), std::move(shape), std::as_bytes(values)});
}

void SafetensorsWriter::Add(std::string name, Shape shape, std::span<const int32_t> values) {
  AddBytes({std::move(name), FindSafetensorsType("I32"), std::move(shape), std::as_bytes(values)});
}

void SafetensorsWriter::AddBytes(Entry entry) {
  if (entry.name.empty() || entry.name.size() > kNameBytesMax || entry.name == kMetadataKey) {
    throw BadTensor(entry.name, "a name that cannot be",
                    fmt::format("{} bytes, 1 to {} are possible", entry.name.size(), kNameBytesMax));
  }
  if (std::ranges::find(entries_, entry.name, &Entry::name) != entries_.end()) {
    throw BadTensor(entry.name, "stands already", "");
  }
  std::optional<uint64_t> bytes = entry.type->bits / 8;
  for (const uint64_t dim : entry.shape) bytes = bytes ? base::CheckedMul(*bytes, dim) : bytes;
  if (bytes != entry.bytes.size()) {
    throw BadTensor(
        entry.name, "shape and values differ",
        fmt::format("shape [{}], {} values", fmt::join(entry.shape, ", "), entry.bytes.size() * 8 / entry.type->bits));
  }
  entries_.push_back(std::move(entry));
}

std::vector<const SafetensorsWriter::Entry*> SafetensorsWriter::Sorted() const {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries_) sorted.push_back(&entry);
  std::ranges::sort(sorted, [](const Entry* a, const Entry* b) {
    return a->type->bits != b->type->bits ? a->type->bits > b->type->bits : a->name < b->name;
  });
  return sorted;
}

std::string SafetensorsWriter::Header() const {
  Json header = Json::object();
  if (!metadata_.empty()) {
    auto sorted = metadata_;
    std::ranges::sort(sorted);
    Json& metadata = header[std::string(kMetadataKey)] = Json::object();
    for (const auto& [key, value] : sorted) {
      RequireUtf8(key);
      RequireUtf8(value);
      metadata[key] = value;
    }
  }
  uint64_t begin = 0;
  for (const Entry* entry : Sorted()) {
    RequireUtf8(entry->name);
    const uint64_t end = begin + entry->bytes.size();
    header[entry->name] = {{"dtype", entry->type->name}, {"shape", entry->shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return text;
}

void SafetensorsWriter::Write(const std::filesystem::path& path) const {
  const std::string header = Header();
  const uint64_t length = header.size();
  base::OutputFile file(path);
  file.Write(std::as_bytes(std::span(&length, 1)));
  file.Write(std::as_bytes(std::span(header)));
  for (const Entry* entry : Sorted()) file.Write(entry->bytes);
  file.Finish();
}

}  // namespace ekvi::files
