#include "ekvi/dtype.h"

#include "base/check.h"

namespace ekvi {
namespace {

// In the order of DType.
struct Entry {
  std::string_view name;
  size_t value_bytes;
};
constexpr Entry kEntries[] = {{"f64", 8}, {"f32", 4}, {"f16", 2}, {"bf16", 2}};

const Entry& EntryOf(DType type) {
  const auto index = static_cast<size_t>(type);
  EKVI_CHECK_OP(<, index, std::size(kEntries));
  return kEntries[index];
}

}  // namespace

size_t DTypeBytes(DType type, size_t count) { return EntryOf(type).value_bytes * count; }

std::string_view DTypeName(DType type) { return EntryOf(type).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (size_t index = 0; index < std::size(kEntries); ++index) {
    if (kEntries[index].name == name) return static_cast<DType>(index);
  }
  return std::nullopt;
}

}  // namespace ekvi
