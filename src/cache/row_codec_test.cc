// Goal: a written slot holds the rounded values and nothing beside it changes. Method: every order × type × head size ×
// source type over many slot ranges, at odd addresses, in buffers painted beforehand, against the scalar conversions.
#include "cache/row_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "numeric/convert.h"

namespace ekvi::cache {
namespace {

constexpr std::byte kPaint{0xA5};

// The bytes of one value in a type, from the scalar conversions.
template <typename T>
std::vector<std::byte> ScalarBytes(DType type, T value) {
  std::vector<std::byte> bytes(DTypeBytes(type, 1));
  const double as_double = value;
  const auto as_float = static_cast<float>(value);
  const numeric::F16 as_f16 = numeric::ToF16(value);
  const numeric::BF16 as_bf16 = numeric::ToBF16(value);
  const void* from = type == DType::kF64   ? static_cast<const void*>(&as_double)
                     : type == DType::kF32 ? static_cast<const void*>(&as_float)
                     : type == DType::kF16 ? static_cast<const void*>(&as_f16)
                                           : static_cast<const void*>(&as_bf16);
  std::memcpy(bytes.data(), from, bytes.size());
  return bytes;
}

struct Case {
  KeyOrder order;
  DType dtype;
  int head_dim;
  int first_slot = 0, count = 0;
  int64_t token_stride = 0;
};

template <typename T>
void ExpectWritten(const Case& c, base::Random& random) {
  const size_t element = DTypeBytes(c.dtype, 1), dim = static_cast<size_t>(c.head_dim);
  const size_t tile_bytes = kTileTokens * dim * element;
  std::vector<T> rows(static_cast<size_t>((c.count - 1) * c.token_stride + c.head_dim));
  for (T& value : rows) value = static_cast<T>(random.Normal());
  std::vector<std::byte> buffer(tile_bytes + 2, kPaint), expected(buffer);
  WriteSlots<T>({buffer.data() + 1, c.dtype, c.order, c.head_dim, c.first_slot, c.count}, rows.data(), c.token_stride);
  for (size_t t = 0; t < static_cast<size_t>(c.count); ++t) {
    for (size_t d = 0; d < dim; ++d) {
      const size_t slot = static_cast<size_t>(c.first_slot) + t;
      const size_t at = c.order == KeyOrder::kInterleaved ? d * kTileTokens + slot : slot * dim + d;
      const auto bytes = ScalarBytes(c.dtype, rows[t * static_cast<size_t>(c.token_stride) + d]);
      std::ranges::copy(bytes, expected.begin() + 1 + static_cast<std::ptrdiff_t>(at * element));
    }
  }
  ASSERT_EQ(buffer, expected);
  std::vector<double> out(dim + 1, -7);
  ReadSlot({buffer.data() + 1, c.dtype, c.order, c.head_dim, c.first_slot}, out.data());
  for (size_t d = 0; d < dim; ++d) {
    double value = 0;
    numeric::Widen(c.dtype, ScalarBytes(c.dtype, rows[d]).data(), &value, 1);
    ASSERT_EQ(out[d], value);
  }
  ASSERT_EQ(out[dim], -7);
}

void ExpectWrittenInEachRange(Case c, base::Random& random) {
  const int64_t dim = c.head_dim;
  for (const auto& [first, count] : {std::pair(0, 1), {15, 1}, {0, 16}, {3, 7}, {9, 7}}) {
    for (const int64_t stride : {dim, dim + 5}) {
      c.first_slot = first;
      c.count = count;
      c.token_stride = stride;
      SCOPED_TRACE(::testing::Message() << DTypeName(c.dtype) << " head_dim " << dim << " slots " << first << " + "
                                        << count << " stride " << stride);
      ExpectWritten<float>(c, random);
      ExpectWritten<double>(c, random);
    }
  }
}

TEST(RowCodec, EveryOrderTypeAndSize_WritesItsSlotsOnly) {
  base::Random random(11);
  for (const KeyOrder order : {KeyOrder::kTokenMajor, KeyOrder::kInterleaved}) {
    for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
      for (const int head_dim : {1, 3, 15, 16, 17, 33, 63, 64, 65, 80, 128, 200}) {
        ExpectWrittenInEachRange({.order = order, .dtype = dtype, .head_dim = head_dim}, random);
      }
    }
  }
}

// From double there is one rounding: through float this value would become 1.0009765625.
TEST(RowCodec, DoubleIntoF16_RoundsOnce) {
  const double value = 1.00048828125 - 0x1p-40;
  std::byte tile[kTileTokens * 2] = {};
  WriteSlots<double>({tile, DType::kF16, KeyOrder::kInterleaved, 1, 4, 1}, &value, 1);
  double out = 0;
  ReadSlot({tile, DType::kF16, KeyOrder::kInterleaved, 1, 4}, &out);
  EXPECT_EQ(out, 1.0);
}

}  // namespace
}  // namespace ekvi::cache
