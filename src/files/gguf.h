// A GGUF file, open for reading: its metadata by key and type, its tensors by name, its bytes where they lie.
//
//   GgufFile file = GgufFile::Open("model.gguf");
//   const uint64_t layers = file.RequireUint("llama.block_count");
//   const GgufTensor* tensor = file.FindTensor("output.weight");
//   if (tensor != nullptr) Use(file.Data(*tensor), file.ComputedFormat(*tensor));
//
// Views (values, strings, arrays, tensors' bytes) live as long as the file; moving it leaves them valid. Read-only and
// safe to share between threads. A model in several files (split.count) is opened by gguf_parts.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "ekvi/error.h"
#include "files/gguf_parser.h"
#include "files/gguf_value.h"

namespace ekvi::files {

class GgufFile {
 public:
  // Maps the file, which must not change while it is open. Errors: kNotFound, kIo, those of ParseGguf, and kUnsupported
  // for one of several files of a model.
  static GgufFile Open(const std::filesystem::path& path);
  // The same for any file, also one of several.
  static GgufFile OpenPart(const std::filesystem::path& path);
  // The bytes stay the caller's and must outlive the file; `name` stands in errors where else the path does.
  static GgufFile Borrow(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  uint64_t file_bytes() const { return bytes_.size(); }
  uint32_t version() const { return contents_.version; }
  uint32_t alignment() const { return contents_.alignment; }

  // Metadata in the order of the file.
  const std::vector<GgufValue>& values() const { return contents_.values; }
  // The same as (key, short text), for people.
  std::vector<std::pair<std::string, std::string>> MetadataText() const;
  // nullptr where the key is missing.
  const GgufValue* Find(std::string_view key) const;

  // Getters give nothing where the key is missing. Error(kCorrupt) naming key, its type and the type wanted where it
  // has another type. Unsigned integers may be stored in any integer type as long as they are not negative.
  std::optional<uint64_t> GetUint(std::string_view key) const;
  std::optional<float> GetF32(std::string_view key) const;
  std::optional<bool> GetBool(std::string_view key) const;
  std::optional<std::string_view> GetString(std::string_view key) const;
  std::optional<GgufStrings> GetStrings(std::string_view key) const;
  std::optional<GgufItems<float>> GetF32s(std::string_view key) const;
  std::optional<GgufItems<int32_t>> GetI32s(std::string_view key) const;
  std::optional<GgufItems<uint32_t>> GetU32s(std::string_view key) const;
  std::optional<GgufItems<uint8_t>> GetBools(std::string_view key) const;  // 0 or 1

  // As above, but a missing key is Error(kCorrupt) that names it.
  uint64_t RequireUint(std::string_view key) const;
  float RequireF32(std::string_view key) const;
  std::string_view RequireString(std::string_view key) const;
  GgufStrings RequireStrings(std::string_view key) const;
  GgufItems<float> RequireF32s(std::string_view key) const;

  // "FILE: key 'KEY': WHAT" with the numbers, for values that do not fit together.
  Error KeyError(ErrorCode code, std::string_view key, std::string_view what, std::string numbers = "",
                 std::string hint = "") const;

  // Tensors in the order of the file.
  const std::vector<GgufTensor>& tensors() const { return contents_.tensors; }
  // nullptr where there is none of that name.
  const GgufTensor* FindTensor(std::string_view name) const;
  // Exactly tensor.bytes bytes. `tensor` is one of this file's.
  std::span<const std::byte> Data(const GgufTensor& tensor) const {
    return bytes_.subspan(tensor.offset, tensor.bytes);
  }
  // What holds the bytes; empty where they were borrowed.
  const base::MappedFile& mapped() const { return mapped_; }
  // The type that the arithmetic knows it by; Error(kUnsupported) naming tensor and type where there is none.
  numeric::Format ComputedFormat(const GgufTensor& tensor) const;

 private:
  GgufFile(base::MappedFile mapped, std::span<const std::byte> bytes, std::string name);

  template <typename T>
  std::optional<GgufItems<T>> GetItems(std::string_view key, GgufType item_type) const;
  const GgufValue* FindTyped(std::string_view key, GgufType type) const;
  Error WrongType(const GgufValue& value, std::string_view wanted) const;
  Error MissingKey(std::string_view key) const;

  base::MappedFile mapped_;
  std::span<const std::byte> bytes_;
  std::string name_;
  GgufContents contents_;
};

}  // namespace ekvi::files
