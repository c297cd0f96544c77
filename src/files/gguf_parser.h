// Parses the bytes of a GGUF file (version 2 or 3, little-endian) into a table of what lies where. Strict: every count,
// length and offset is checked against the bytes that are really there before it is used, and what is allocated is
// proportional to those bytes.
//
// The format: "GGUF", u32 version, u64 tensor count, u64 key count, the keys with their values, the tensors'
// descriptions, zeros up to the alignment, the tensors' data. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "files/gguf_tensor_type.h"
#include "files/gguf_value.h"
#include "files/reader_names.h"

namespace ekvi::files {

struct GgufTensor {
  std::string_view name;
  const GgufTensorType* type = nullptr;      // never null in a parsed file
  std::array<uint64_t, 4> dims{1, 1, 1, 1};  // fastest axis first
  uint32_t dim_count = 1;
  uint64_t offset = 0;  // from the start of the file
  uint64_t bytes = 0;
  uint64_t values = 0;

  // "[64, 512]", fastest axis first as in the file.
  std::string ShapeText() const;
};

struct GgufContents {
  uint32_t version = 0;
  uint32_t alignment = 0;
  std::vector<GgufValue> values;
  std::vector<GgufTensor> tensors;
  ReaderNames keys, tensor_names;
};

// `file` names the file in errors. The contents refer to `bytes`.
// Errors: kCorrupt for a file that breaks the format, kUnsupported for another version or byte order, nested arrays,
// element types that ggml removed or that are unknown, and sizes past the limits below.
//
// Limits: 65,536 keys, 65,536 tensors, strings of 16 MiB, arrays of 16 Mi items, 512 MiB of metadata, alignment 64 KiB.
GgufContents ParseGguf(std::span<const std::byte> bytes, std::string_view file);

}  // namespace ekvi::files
