// The element types that GGUF files give their tensors (ggml's numbers), with their block sizes, so that every size is
// checked whether or not anything here computes with the type.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "numeric/block_format.h"

namespace ekvi::files {

struct GgufTensorType {
  uint32_t id;
  std::string_view name;  // "Q8_0"
  uint32_t block_values;  // values that one block holds, all from one row
  uint32_t block_bytes;
  std::optional<numeric::Format> format;  // the arithmetic's name for it; nothing where there is none
};

// The type of that number; nullptr for numbers that ggml removed or that are unknown here.
const GgufTensorType* FindGgufTensorType(uint32_t id);

// The name of a type that ggml removed, else empty.
std::string_view RemovedGgufTensorType(uint32_t id);

}  // namespace ekvi::files
