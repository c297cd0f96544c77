// The JSON header of a safetensors file as a table, read without recursion and with no more memory than the header's
// size accounts for. What the table says about the data is checked by the reader (safetensors.h), not here.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/safetensors_type.h"

namespace ekvi::files {

struct SafetensorsTensor {
  std::string name;
  const SafetensorsType* type = nullptr;  // never null in a parsed header
  std::vector<uint64_t> shape;            // slowest axis first; empty: one value
  uint64_t begin = 0, end = 0;            // bytes of the data, from the data's start

  // "[3, 8, 2]".
  std::string ShapeText() const;
};

struct SafetensorsHeader {
  std::vector<std::pair<std::string, std::string>> metadata;  // in the order of the file
  std::vector<SafetensorsTensor> tensors;                     // likewise
};

// `json` is the header without its length, `file` names the file in errors. Strict: an object of objects at most 3
// levels deep; "__metadata__" maps strings to strings; every other entry has exactly dtype, shape and data_offsets;
// integers are plain decimals up to 2^53; no key twice at any level. Errors: kCorrupt naming the tensor and member, or
// the byte where the JSON breaks; kUnsupported for more than 65,536 tensors or metadata entries, more than 8
// dimensions, or an unknown element type.
SafetensorsHeader ParseSafetensorsHeader(std::string_view json, std::string_view file);

}  // namespace ekvi::files
