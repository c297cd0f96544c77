#include "files/safetensors_type.h"

#include <algorithm>
#include <array>

namespace ekvi::files {
namespace {

// https://github.com/huggingface/safetensors, the type list of version 0.6.
constexpr auto kTypes = std::to_array<SafetensorsType>({
    {"BOOL", 8},    {"U8", 8},      {"I8", 8},          {"U16", 16},        {"I16", 16},    {"U32", 32},
    {"I32", 32},    {"U64", 64},    {"I64", 64},        {"F16", 16},        {"BF16", 16},   {"F32", 32},
    {"F64", 64},    {"C64", 64},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6}, {"F8_E4M3", 8},
    {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
});

}  // namespace

const SafetensorsType* FindSafetensorsType(std::string_view name) {
  const auto* type = std::ranges::find(kTypes, name, &SafetensorsType::name);
  return type == kTypes.end() ? nullptr : type;
}

}  // namespace ekvi::files
