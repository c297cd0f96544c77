// Writes a safetensors file: the same tensors and metadata give the same bytes, whatever the order they were added in.
//
//   SafetensorsWriter writer;
//   writer.AddMetadata("kind", "logits");
//   writer.Add("tokens", {3}, std::span<const int64_t>(tokens));
//   writer.Add("logits", {3, 512}, std::span<const float>(logits));
//   writer.Write("out.safetensors");
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/safetensors_type.h"

namespace ekvi::files {

class SafetensorsWriter {
 public:
  using Shape = std::vector<uint64_t>;  // slowest axis first

  // Error(kInvalidArgument) naming the key where it stands already.
  void AddMetadata(std::string key, std::string value);

  // The values are not copied: they must live until Write. Error(kInvalidArgument) naming the tensor where the name is
  // empty, longer than 512 bytes, taken or "__metadata__", or where shape and number of values differ. All of it must
  // be UTF-8 (Write checks it).
  void Add(std::string name, Shape shape, std::span<const double> values);
  void Add(std::string name, Shape shape, std::span<const float> values);
  void Add(std::string name, Shape shape, std::span<const int64_t> values);
  void Add(std::string name, Shape shape, std::span<const int32_t> values);

  // Tensors lie in the order of falling value size, then name, so that each is aligned to its values; the header is
  // padded with blanks to a multiple of 8. In full or not at all. Errors: kIo with path and reason, kInvalidArgument
  // for names or metadata that are not UTF-8.
  void Write(const std::filesystem::path& path) const;

 private:
  struct Entry {
    std::string name;
    const SafetensorsType* type;
    Shape shape;
    std::span<const std::byte> bytes;
  };

  void AddBytes(Entry entry);
  std::string Header() const;
  std::vector<const Entry*> Sorted() const;

  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace ekvi::files
