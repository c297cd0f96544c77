// The element types that caches and weights are stored in.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ekvi {

enum class DType { kF64, kF32, kF16, kBF16, kQ8_0 };

// Bytes of `count` values that lie side by side. kQ8_0 is stored in blocks of 32 values (an f16 scale and 32 int8, 34
// bytes): `count` must be a multiple of 32 there. Precondition: the product fits size_t.
size_t DTypeBytes(DType type, size_t count);

// "f64", "f32", "f16", "bf16", "q8_0".
std::string_view DTypeName(DType type);
// The type of that name, or nothing.
std::optional<DType> ParseDType(std::string_view name);

}  // namespace ekvi
