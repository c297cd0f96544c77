// The element types that caches are stored in.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace ekvi {

enum class DType { kF64, kF32, kF16, kBF16 };

// Bytes of `count` values that lie side by side. Precondition: the product fits size_t.
size_t DTypeBytes(DType type, size_t count);

// "f64", "f32", "f16", "bf16".
std::string_view DTypeName(DType type);
// The type of that name, or nothing.
std::optional<DType> ParseDType(std::string_view name);

}  // namespace ekvi
