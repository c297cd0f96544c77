// Down: the source's exponent is moved to the target's bias and rounded together with the mantissa as one integer, so
// that a carry runs into the exponent (and from the largest finite value to infinity) by itself; below the target's
// normal range the significand is shifted further first. All in integers: no flag, rounding mode or double rounding can
// interfere.
//
// Bulk calls use F16C where the machine has it. Its instructions take the rounding from their own operand, ignore the
// flush bits of MXCSR for binary16, and quiet a NaN by setting the mantissa's top bit, as the scalar code does.
#include "numeric/convert.h"

#include <cstring>
#include <limits>

#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace ekvi::numeric {
namespace {

struct FloatBits {
  using Bits = uint32_t;
  static constexpr int kExponentBits = 8, kMantissaBits = 23;
};
struct DoubleBits {
  using Bits = uint64_t;
  static constexpr int kExponentBits = 11, kMantissaBits = 52;
};
struct F16Bits {
  static constexpr int kExponentBits = 5, kMantissaBits = 10;
};
struct BF16Bits {
  static constexpr int kExponentBits = 8, kMantissaBits = 7;
};

// value / 2^shift to nearest, ties to even; 0 < shift.
template <typename Bits>
Bits RoundedShift(Bits value, int shift) {
  if (shift >= std::numeric_limits<Bits>::digits) return 0;
  const Bits odd = (value >> shift) & 1;
  return (value + (Bits{1} << (shift - 1)) - 1 + odd) >> shift;
}

// Requires that the source's subnormal numbers are below half of the target's least: they give zero.
template <typename From, typename To>
uint16_t RoundBits(typename From::Bits bits) {
  using Bits = typename From::Bits;
  constexpr Bits kImplicit = Bits{1} << From::kMantissaBits;
  constexpr int kFromMax = (1 << From::kExponentBits) - 1, kToMax = (1 << To::kExponentBits) - 1;
  constexpr int kShift = From::kMantissaBits - To::kMantissaBits;
  constexpr Bits kInfinity = Bits{kToMax} << To::kMantissaBits;

  const Bits sign = bits >> (From::kExponentBits + From::kMantissaBits) << 15;
  const Bits mantissa = bits & (kImplicit - 1);
  const int from_exponent = static_cast<int>(bits >> From::kMantissaBits) & kFromMax;
  const int exponent = from_exponent - kFromMax / 2 + kToMax / 2;
  Bits rounded;
  if (from_exponent == kFromMax && mantissa != 0) {
    rounded = kInfinity | Bits{1} << (To::kMantissaBits - 1) | mantissa >> kShift;
  } else if (exponent >= kToMax) {
    rounded = kInfinity;
  } else if (exponent > 0) {
    rounded = RoundedShift<Bits>(static_cast<Bits>(exponent) << From::kMantissaBits | mantissa, kShift);
  } else {
    rounded = from_exponent == 0 ? 0 : RoundedShift<Bits>(kImplicit | mantissa, kShift + 1 - exponent);
  }
  return static_cast<uint16_t>(sign | rounded);
}

template <typename T>
T Load(const std::byte* from, size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
void Store(T value, std::byte* to, size_t index) {
  std::memcpy(to + index * sizeof(T), &value, sizeof(T));
}

#if defined(__x86_64__)

// How many of the first values were done: the caller does the rest.
__attribute__((target("avx,f16c"))) size_t WidenF16Vectors(const std::byte* from, float* to, size_t count) {
  size_t index = 0;
  for (; index + 8 <= count; index += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * index));
    _mm256_storeu_ps(to + index, _mm256_cvtph_ps(halves));
  }
  return index;
}

__attribute__((target("avx,f16c"))) size_t WidenF16Vectors(const std::byte* from, double* to, size_t count) {
  size_t index = 0;
  for (; index + 4 <= count; index += 4) {
    const __m128i halves = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + 2 * index));
    _mm256_storeu_pd(to + index, _mm256_cvtps_pd(_mm_cvtph_ps(halves)));
  }
  return index;
}

__attribute__((target("avx,f16c"))) size_t NarrowF16Vectors(const float* from, std::byte* to, size_t count) {
  size_t index = 0;
  for (; index + 8 <= count; index += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + index), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * index), halves);
  }
  return index;
}

#endif

template <typename T>
size_t WidenF16Fast([[maybe_unused]] const std::byte* from, [[maybe_unused]] T* to, [[maybe_unused]] size_t count) {
#if defined(__x86_64__)
  if (base::CpuHasAvx2()) return WidenF16Vectors(from, to, count);
#endif
  return 0;
}

size_t NarrowF16Fast([[maybe_unused]] const float* from, [[maybe_unused]] std::byte* to,
                     [[maybe_unused]] size_t count) {
#if defined(__x86_64__)
  if (base::CpuHasAvx2()) return NarrowF16Vectors(from, to, count);
#endif
  return 0;
}

// From double no instruction rounds once.
size_t NarrowF16Fast(const double*, std::byte*, size_t) { return 0; }

template <typename T>
void WidenF16(const std::byte* from, T* to, size_t count) {
  for (size_t i = WidenF16Fast(from, to, count); i < count; ++i) to[i] = static_cast<T>(ToF32(Load<F16>(from, i)));
}

template <typename T>
void NarrowF16(const T* from, std::byte* to, size_t count) {
  for (size_t i = NarrowF16Fast(from, to, count); i < count; ++i) Store(ToF16(from[i]), to, i);
}

// The same type on both sides is copied: a load into a register and back may quiet a NaN on some machines.
template <typename Stored, typename T>
void WidenPlain(const std::byte* from, T* to, size_t count) {
  if constexpr (std::is_same_v<Stored, T>) {
    if (count > 0) std::memcpy(to, from, count * sizeof(T));
  } else {
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(Load<Stored>(from, i));
  }
}

template <typename Stored, typename T>
void NarrowPlain(const T* from, std::byte* to, size_t count) {
  if constexpr (std::is_same_v<Stored, T>) {
    if (count > 0) std::memcpy(to, from, count * sizeof(T));
  } else {
    for (size_t i = 0; i < count; ++i) Store(static_cast<Stored>(from[i]), to, i);
  }
}

// ToBF16(float), in a form that compilers turn into vectors.
inline BF16 RoundToBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40;
  return {static_cast<uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded)};
}
inline BF16 RoundToBF16(double value) { return {RoundBits<DoubleBits, BF16Bits>(std::bit_cast<uint64_t>(value))}; }

}  // namespace

// A subnormal number is its mantissa × 2^-24, exact in float.
float ToF32(F16 value) {
  const uint32_t sign = uint32_t{value.bits} >> 15 << 31;
  const uint32_t exponent = value.bits >> 10 & 31;
  const uint32_t mantissa = value.bits & 0x3FF;
  if (exponent == 0) {
    const auto magnitude = std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
    return std::bit_cast<float>(sign | magnitude);
  }
  const uint32_t quiet = exponent == 31 && mantissa != 0 ? 0x400000 : 0;
  const uint32_t biased = exponent == 31 ? 255 : exponent + (127 - 15);
  return std::bit_cast<float>(sign | biased << 23 | mantissa << 13 | quiet);
}

F16 ToF16(float value) { return {RoundBits<FloatBits, F16Bits>(std::bit_cast<uint32_t>(value))}; }
F16 ToF16(double value) { return {RoundBits<DoubleBits, F16Bits>(std::bit_cast<uint64_t>(value))}; }
BF16 ToBF16(float value) { return RoundToBF16(value); }
BF16 ToBF16(double value) { return RoundToBF16(value); }

template <typename T>
void Widen(DType type, const std::byte* from, T* to, size_t count) {
  switch (type) {
    case DType::kF64:
      return WidenPlain<double>(from, to, count);
    case DType::kF32:
      return WidenPlain<float>(from, to, count);
    case DType::kF16:
      return WidenF16(from, to, count);
    case DType::kBF16:
      for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(ToF32(Load<BF16>(from, i)));
      return;
  }
}

template <typename T>
void Narrow(DType type, const T* from, std::byte* to, size_t count) {
  switch (type) {
    case DType::kF64:
      return NarrowPlain<double>(from, to, count);
    case DType::kF32:
      return NarrowPlain<float>(from, to, count);
    case DType::kF16:
      return NarrowF16(from, to, count);
    case DType::kBF16:
      for (size_t i = 0; i < count; ++i) Store(RoundToBF16(from[i]), to, i);
      return;
  }
}

template void Widen(DType, const std::byte*, float*, size_t);
template void Widen(DType, const std::byte*, double*, size_t);
template void Narrow(DType, const float*, std::byte*, size_t);
template void Narrow(DType, const double*, std::byte*, size_t);

}  // namespace ekvi::numeric
