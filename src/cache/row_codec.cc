// Token-major slots are what Narrow writes. For interleaved ones the tokens are narrowed side by side into a buffer on
// the stack, kStripDims dimensions at a time, and moved from there with the slot as the inner index, as whole elements.
#include "cache/row_codec.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "numeric/convert.h"

namespace ekvi::cache {
namespace {

// 16 tokens × 64 dimensions × 8 bytes: 8 KiB, within the first-level cache. A multiple of every vector width.
constexpr int kStripDims = 64;

template <size_t kElement>
struct Strip {
  std::byte values[kTileTokens][kStripDims * kElement];
};

template <size_t kElement>
void Scatter(const Strip<kElement>& strip, const SlotRange& slots, int first_dim, int dims) {
  for (int d = 0; d < dims; ++d) {
    std::byte* const line =
        slots.data + ((first_dim + static_cast<int64_t>(d)) * kTileTokens + slots.first_slot) * kElement;
    for (int t = 0; t < slots.count; ++t) std::memcpy(line + t * kElement, &strip.values[t][d * kElement], kElement);
  }
}

template <size_t kElement, typename T>
void WriteInterleaved(const SlotRange& slots, const T* rows, int64_t token_stride) {
  Strip<kElement> strip;
  for (int first = 0; first < slots.head_dim; first += kStripDims) {
    const int dims = std::min(kStripDims, slots.head_dim - first);
    for (int t = 0; t < slots.count; ++t) {
      numeric::Narrow(slots.dtype, rows + t * token_stride + first, strip.values[t], static_cast<size_t>(dims));
    }
    Scatter<kElement>(strip, slots, first, dims);
  }
}

template <typename T>
void WriteTokenMajor(const SlotRange& slots, const T* rows, int64_t token_stride) {
  const auto dims = static_cast<size_t>(slots.head_dim);
  const size_t row_bytes = DTypeBytes(slots.dtype, dims);
  std::byte* const first = slots.data + static_cast<size_t>(slots.first_slot) * row_bytes;
  if (token_stride == slots.head_dim) {
    numeric::Narrow(slots.dtype, rows, first, static_cast<size_t>(slots.count) * dims);
    return;
  }
  for (int t = 0; t < slots.count; ++t) {
    numeric::Narrow(slots.dtype, rows + t * token_stride, first + static_cast<size_t>(t) * row_bytes, dims);
  }
}

}  // namespace

template <typename T>
void WriteSlots(const SlotRange& slots, const T* rows, int64_t token_stride) {
  if (slots.order == KeyOrder::kTokenMajor) return WriteTokenMajor(slots, rows, token_stride);
  switch (DTypeBytes(slots.dtype, 1)) {
    case 2:
      return WriteInterleaved<2>(slots, rows, token_stride);
    case 4:
      return WriteInterleaved<4>(slots, rows, token_stride);
    case 8:
      return WriteInterleaved<8>(slots, rows, token_stride);
    default:
      EKVI_CHECK(false && "a cache type has 2, 4 or 8 bytes");
  }
}

template void WriteSlots<float>(const SlotRange&, const float*, int64_t);
template void WriteSlots<double>(const SlotRange&, const double*, int64_t);

void ReadSlot(const Slot& slot, double* out) {
  const size_t element = DTypeBytes(slot.dtype, 1);
  const auto dims = static_cast<size_t>(slot.head_dim);
  const auto index = static_cast<size_t>(slot.index);
  if (slot.order == KeyOrder::kTokenMajor) {
    numeric::Widen(slot.dtype, slot.data + index * dims * element, out, dims);
    return;
  }
  for (size_t d = 0; d < dims; ++d) {
    numeric::Widen(slot.dtype, slot.data + (d * kTileTokens + index) * element, out + d, 1);
  }
}

}  // namespace ekvi::cache
