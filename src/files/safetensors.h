// A safetensors file, open for reading: a JSON header that names tensors, and their data end to end.
// https://github.com/huggingface/safetensors (format section of its README)
//
// Strict: the tensors' ranges tile the data exactly, each is as long as its shape and type say, and nothing follows; so
// no two tensors share bytes and no byte is unaccounted for. Read-only and safe to share between threads. Models
// sharded over several files (index.json) are opened by safetensors_folder.h.
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
#include "files/reader_names.h"
#include "files/safetensors_header.h"

namespace ekvi::files {

class SafetensorsFile {
 public:
  // Maps the file, which must not change while it is open. Errors: kNotFound, kIo; kCorrupt where the file breaks the
  // format, naming the tensor, offsets and sizes; kUnsupported as ParseSafetensorsHeader, and for a header over 32 MiB.
  static SafetensorsFile Open(const std::filesystem::path& path);
  // The bytes stay the caller's and must outlive the file; `name` stands in errors where else the path does.
  static SafetensorsFile Borrow(std::span<const std::byte> bytes, std::string name);

  const std::string& name() const { return name_; }
  uint64_t file_bytes() const { return file_bytes_; }
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return header_.metadata; }
  // nothing where the key is missing.
  std::optional<std::string_view> Metadata(std::string_view key) const;

  // In the order of the header.
  const std::vector<SafetensorsTensor>& tensors() const { return header_.tensors; }
  // nullptr where there is none of that name.
  const SafetensorsTensor* Find(std::string_view name) const;
  // Error(kCorrupt) naming it where there is none.
  const SafetensorsTensor& Require(std::string_view name) const;
  const std::vector<uint64_t>& Shape(std::string_view name) const { return Require(name).shape; }
  // The tensor's bytes, not necessarily aligned. `tensor` is one of this file's.
  std::span<const std::byte> Data(const SafetensorsTensor& tensor) const {
    return data_.subspan(tensor.begin, tensor.end - tensor.begin);
  }

  // The values in the order of memory. ReadF64 widens F64, F32, F16 and BF16, all exactly; ReadI64 reads every integer
  // type and BOOL (0 and 1). Errors: kCorrupt where the tensor is missing or a U64 does not fit, kUnsupported naming
  // tensor and type for other types.
  std::vector<double> ReadF64(std::string_view name) const;
  std::vector<int64_t> ReadI64(std::string_view name) const;

 private:
  SafetensorsFile(base::MappedFile mapped, std::span<const std::byte> bytes, std::string name);
  Error TensorError(ErrorCode code, const SafetensorsTensor& tensor, std::string_view what, std::string numbers) const;
  void CheckSize(const SafetensorsTensor& tensor) const;
  void CheckTiling() const;

  base::MappedFile mapped_;
  std::string name_;
  uint64_t file_bytes_ = 0;
  std::span<const std::byte> data_;
  SafetensorsHeader header_;
  ReaderNames names_;
};

}  // namespace ekvi::files
