// The operations that the functions of math-inl.h are made of, for one scalar: the oracle that vectors must match bit
// by bit.
//
// A vector type V brings the same free functions in its own namespace (found by argument-dependent lookup), the
// operators + − × ÷ and unary −, construction from one lane V(c), and the name V::Lane of its lane type. All operations
// round to nearest even; none but Fma fuses. Where an operand is NaN, Max and Min return the second one, as the
// instructions of x86 do: who wants NaN to stay writes the constant first.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ekvi::numeric {

template <typename V>
struct LaneType {
  using Type = typename V::Lane;
};
template <>
struct LaneType<float> {
  using Type = float;
};
template <>
struct LaneType<double> {
  using Type = double;
};
template <typename V>
using LaneOf = typename LaneType<V>::Type;

// a × b + c, rounded once.
[[gnu::always_inline]] inline float Fma(float a, float b, float c) { return std::fma(a, b, c); }
[[gnu::always_inline]] inline double Fma(double a, double b, double c) { return std::fma(a, b, c); }

[[gnu::always_inline]] inline float Sqrt(float a) { return std::sqrt(a); }
[[gnu::always_inline]] inline double Sqrt(double a) { return std::sqrt(a); }

[[gnu::always_inline]] inline float Abs(float a) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(a) & ~(1u << 31));
}
[[gnu::always_inline]] inline double Abs(double a) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(a) & ~(uint64_t{1} << 63));
}

[[gnu::always_inline]] inline float CopySign(float magnitude, float sign) {
  const uint32_t bit = std::bit_cast<uint32_t>(sign) & (1u << 31);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(Abs(magnitude)) | bit);
}
[[gnu::always_inline]] inline double CopySign(double magnitude, double sign) {
  const uint64_t bit = std::bit_cast<uint64_t>(sign) & (uint64_t{1} << 63);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(Abs(magnitude)) | bit);
}

// To the nearest integer, ties to even; zero keeps its sign. Beyond 2^23 (2^52) every number is an integer; below,
// adding that power lets the addition do the rounding.
[[gnu::always_inline]] inline float Round(float a) {
  const float magnitude = Abs(a);
  return magnitude < 0x1p23f ? CopySign((magnitude + 0x1p23f) - 0x1p23f, a) : a;
}
[[gnu::always_inline]] inline double Round(double a) {
  const double magnitude = Abs(a);
  return magnitude < 0x1p52 ? CopySign((magnitude + 0x1p52) - 0x1p52, a) : a;
}

[[gnu::always_inline]] inline float Max(float a, float b) { return a > b ? a : b; }
[[gnu::always_inline]] inline double Max(double a, double b) { return a > b ? a : b; }
[[gnu::always_inline]] inline float Min(float a, float b) { return a < b ? a : b; }
[[gnu::always_inline]] inline double Min(double a, double b) { return a < b ? a : b; }

// Masks: bool for a scalar.
[[gnu::always_inline]] inline bool Less(float a, float b) { return a < b; }
[[gnu::always_inline]] inline bool Less(double a, double b) { return a < b; }
[[gnu::always_inline]] inline bool LessEqual(float a, float b) { return a <= b; }
[[gnu::always_inline]] inline bool LessEqual(double a, double b) { return a <= b; }
[[gnu::always_inline]] inline bool IsNan(float a) { return a != a; }
[[gnu::always_inline]] inline bool IsNan(double a) { return a != a; }
[[gnu::always_inline]] inline float Select(bool mask, float if_true, float if_false) {
  return mask ? if_true : if_false;
}
[[gnu::always_inline]] inline double Select(bool mask, double if_true, double if_false) {
  return mask ? if_true : if_false;
}

// 2^n for an integral n in −126 … 127 (−1022 … 1023); 0 for one less; any number, but no trap, for anything else. The
// sum leaves n + bias in the lowest bits of the mantissa, from where it is shifted to the exponent.
[[gnu::always_inline]] inline float Pow2(float n) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(n + (0x1.8p23f + 127)) << 23);
}
[[gnu::always_inline]] inline double Pow2(double n) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(n + (0x1.8p52 + 1023)) << 52);
}

}  // namespace ekvi::numeric
