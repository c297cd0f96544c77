// Between storage types and arithmetic: every conversion down rounds to nearest even, every conversion up is exact.
//
// Bulk calls use the machine's conversion instructions where it has them; the bits are those of the scalar functions.
// Overflow gives infinity, NaN stays NaN (quiet, payload cut to the leading bits, sign kept).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "ekvi/dtype.h"

namespace ekvi::numeric {

// IEEE 754 binary16, as bits.
struct F16 {
  uint16_t bits;
};
// The upper half of a binary32.
struct BF16 {
  uint16_t bits;
};
static_assert(sizeof(F16) == 2 && sizeof(BF16) == 2);

float ToF32(F16 value);
inline float ToF32(BF16 value) { return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16); }
F16 ToF16(float value);
BF16 ToBF16(float value);
// From double in one rounding (through float would round twice).
F16 ToF16(double value);
BF16 ToBF16(double value);

// `count` values of `type` at `from` into `to`, and back. T is float or double; no alignment is required.
template <typename T>
void Widen(DType type, const std::byte* from, T* to, size_t count);
template <typename T>
void Narrow(DType type, const T* from, std::byte* to, size_t count);

}  // namespace ekvi::numeric
