// The element types of safetensors files, by the names that stand in their headers.
#pragma once

#include <cstdint>
#include <string_view>

namespace ekvi::files {

struct SafetensorsType {
  std::string_view name;  // "BF16"
  uint32_t bits;          // of one value
};

// nullptr for a name the format does not have.
const SafetensorsType* FindSafetensorsType(std::string_view name);

}  // namespace ekvi::files
