// Sixteen lanes in plain C++: the oracle target. Each operation is the definition that the vector targets must match
// bit by bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numeric/convert.h"
#include "numeric/math-inl.h"
#include "numeric/scalar_ops.h"

#define EKVI_INLINE [[gnu::always_inline]] inline

namespace ekvi::kernels::scalar {

inline constexpr int kAccumulators =
    8;  // vectors of partial sums a register tile may hold; any number gives the same bits
inline constexpr int kRowsMax = 4, kStreamRows = 2, kStreamVectors = 2;
inline constexpr int kInt8Rows = 1, kInt8RowsOfPlanes = 1, kInt8RowsOfHalves = 1, kInt8Panels = 1;
inline constexpr int kInt8ManyRows = 4, kInt8FewRows = 4, kInt8FewRowsOfParts = 4, kInt8PanelsOfOne = 1;

struct Mask {
  bool lane[16];
};

template <typename T>
struct Vec {
  using Lane = T;
  T lane[16];
  Vec() = default;
  explicit Vec(T value) {
    for (T& x : lane) x = value;
  }
};
using F32 = Vec<float>;
using F64 = Vec<double>;
template <typename T>
using VecOf = Vec<T>;

template <typename T, typename F>
Vec<T> Map(const Vec<T>& a, F f) {
  Vec<T> r;
  for (int i = 0; i < 16; ++i) r.lane[i] = f(a.lane[i]);
  return r;
}
template <typename T, typename F>
Vec<T> Map(const Vec<T>& a, const Vec<T>& b, F f) {
  Vec<T> r;
  for (int i = 0; i < 16; ++i) r.lane[i] = f(a.lane[i], b.lane[i]);
  return r;
}
template <typename T, typename F>
Mask Test(const Vec<T>& a, const Vec<T>& b, F f) {
  Mask r;
  for (int i = 0; i < 16; ++i) r.lane[i] = f(a.lane[i], b.lane[i]);
  return r;
}

template <typename T>
Vec<T> operator+(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x + y; });
}
template <typename T>
Vec<T> operator-(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x - y; });
}
template <typename T>
Vec<T> operator*(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x * y; });
}
template <typename T>
Vec<T> operator/(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x / y; });
}
template <typename T>
Vec<T> operator-(const Vec<T>& a) {
  return Map(a, [](T x) { return -x; });
}

template <typename T>
Vec<T> Fma(const Vec<T>& a, const Vec<T>& b, const Vec<T>& c) {
  Vec<T> r;
  for (int i = 0; i < 16; ++i) r.lane[i] = std::fma(a.lane[i], b.lane[i], c.lane[i]);
  return r;
}
template <typename T>
Vec<T> Sqrt(const Vec<T>& a) {
  return Map(a, [](T x) { return std::sqrt(x); });
}
template <typename T>
Vec<T> Abs(const Vec<T>& a) {
  return Map(a, [](T x) { return std::fabs(x); });
}
template <typename T>
Vec<T> Round(const Vec<T>& a) {
  return Map(a, [](T x) { return numeric::Round(x); });
}
template <typename T>
Vec<T> Pow2(const Vec<T>& a) {
  return Map(a, [](T x) { return numeric::Pow2(x); });
}
template <typename T>
Vec<T> Max(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x > y ? x : y; });
}
template <typename T>
Vec<T> Min(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return x < y ? x : y; });
}
template <typename T>
Vec<T> CopySign(const Vec<T>& a, const Vec<T>& b) {
  return Map(a, b, [](T x, T y) { return std::copysign(x, y); });
}
template <typename T>
Mask Less(const Vec<T>& a, const Vec<T>& b) {
  return Test(a, b, [](T x, T y) { return x < y; });
}
template <typename T>
Mask LessEqual(const Vec<T>& a, const Vec<T>& b) {
  return Test(a, b, [](T x, T y) { return x <= y; });
}
template <typename T>
Mask IsNan(const Vec<T>& a) {
  return Test(a, a, [](T x, T y) { return x != y; });
}
template <typename T>
Vec<T> Select(const Mask& mask, const Vec<T>& yes, const Vec<T>& no) {
  Vec<T> r;
  for (int i = 0; i < 16; ++i) r.lane[i] = mask.lane[i] ? yes.lane[i] : no.lane[i];
  return r;
}

// Lanes begin … end - 1.
template <typename V>
Mask LanesIn(int begin, int end) {
  Mask r;
  for (int i = 0; i < 16; ++i) r.lane[i] = begin <= i && i < end;
  return r;
}
inline Mask Or(const Mask& a, const Mask& b) {
  Mask r;
  for (int i = 0; i < 16; ++i) r.lane[i] = a.lane[i] || b.lane[i];
  return r;
}
template <typename V>
V Iota() {
  V r;
  for (int i = 0; i < 16; ++i) r.lane[i] = static_cast<typename V::Lane>(i);
  return r;
}

template <typename V>
V LoadPartial(const typename V::Lane* from, int count) {
  V r(0);
  for (int i = 0; i < count; ++i) r.lane[i] = from[i];
  return r;
}
template <typename V>
V Load(const typename V::Lane* from) {
  return LoadPartial<V>(from, 16);
}
template <typename T>
void StorePartial(const Vec<T>& a, T* to, int count) {
  for (int i = 0; i < count; ++i) to[i] = a.lane[i];
}
template <typename T>
void Store(const Vec<T>& a, T* to) {
  StorePartial(a, to, 16);
}

// One value of a storage type, which lies unaligned.
struct ElementF64 {
  static constexpr int kBytes = 8;
};
struct ElementF32 {
  static constexpr int kBytes = 4;
};
struct ElementF16 {
  static constexpr int kBytes = 2;
};
struct ElementBF16 {
  static constexpr int kBytes = 2;
};
struct ElementI8 {
  static constexpr int kBytes = 1;
};
struct ElementU8 {
  static constexpr int kBytes = 1;
};
// The halves of bytes.
struct ElementLow4 {
  static constexpr int kBytes = 1;
};
struct ElementHigh4 {
  static constexpr int kBytes = 1;
};

template <typename R>
R Read(const std::byte* from) {
  R r;
  std::memcpy(&r, from, sizeof r);
  return r;
}
inline double ReadAs(ElementF64, const std::byte* p) { return Read<double>(p); }
inline float ReadAs(ElementF32, const std::byte* p) { return Read<float>(p); }
inline float ReadAs(ElementF16, const std::byte* p) { return numeric::ToF32(Read<numeric::F16>(p)); }
inline float ReadAs(ElementBF16, const std::byte* p) { return numeric::ToF32(Read<numeric::BF16>(p)); }
inline float ReadAs(ElementI8, const std::byte* p) { return static_cast<float>(Read<int8_t>(p)); }
inline float ReadAs(ElementU8, const std::byte* p) { return static_cast<float>(Read<uint8_t>(p)); }
inline float ReadAs(ElementLow4, const std::byte* p) { return static_cast<float>(Read<uint8_t>(p) & 15); }
inline float ReadAs(ElementHigh4, const std::byte* p) { return static_cast<float>(Read<uint8_t>(p) >> 4); }

template <typename V, typename E>
V WidenPartial(const std::byte* from, int count) {
  V r(0);
  for (int i = 0; i < count; ++i) r.lane[i] = ReadAs(E{}, from + i * E::kBytes);
  return r;
}
template <typename V, typename E>
V Widen(const std::byte* from) {
  return WidenPartial<V, E>(from, 16);
}

template <typename T>
T ReduceAdd(Vec<T> a) {
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] + a.lane[i + half];
  }
  return a.lane[0];
}
template <typename T>
T ReduceMax(Vec<T> a) {
  for (int half = 8; half >= 1; half /= 2) {
    for (int i = 0; i < half; ++i) a.lane[i] = a.lane[i] > a.lane[i + half] ? a.lane[i] : a.lane[i + half];
  }
  return a.lane[0];
}
template <typename T>
T FirstLane(const Vec<T>& a) {
  return a.lane[0];
}

// Sixteen 32-bit integers, and 16 × 4 bytes: four codes of each of 16 outputs.
struct I32 {
  int32_t lane[16];
  I32() = default;
  explicit I32(int32_t value) {
    for (int32_t& x : lane) x = value;
  }
};
struct Codes {
  uint8_t byte[64];
};

inline F32 ToF32(const I32& a) {
  F32 r;
  for (int i = 0; i < 16; ++i) r.lane[i] = static_cast<float>(a.lane[i]);
  return r;
}
inline Codes LoadCodes(const std::byte* from) {
  Codes r;
  std::memcpy(r.byte, from, sizeof(r.byte));
  return r;
}
inline void StoreCodes(const Codes& a, std::byte* to) { std::memcpy(to, a.byte, sizeof(a.byte)); }
// x × kFactor in every lane.
template <int kFactor>
I32 Times(int32_t x) {
  return I32(kFactor * x);
}
inline Codes operator|(Codes a, const Codes& b) {
  for (int i = 0; i < 64; ++i) a.byte[i] |= b.byte[i];
  return a;
}
// Bits of each byte from kFrom on, moved to kTo; kMask is how many, as ones. They stay within the byte.
template <int kFrom, int kTo, int kMask>
Codes MoveBits(Codes a) {
  for (uint8_t& x : a.byte) x = static_cast<uint8_t>((x >> kFrom & kMask) << kTo);
  return a;
}
// table[code], codes below 16.
inline Codes Lookup(Codes a, const uint8_t* table) {
  for (uint8_t& x : a.byte) x = table[x];
  return a;
}
// Byte kByte of each output.
template <int kByte>
F32 ByteOf(const Codes& a) {
  F32 r;
  for (int i = 0; i < 16; ++i) r.lane[i] = a.byte[4 * i + kByte];
  return r;
}
// sum[n] += Σ codes[n][j] × quad[j] over four bytes j, codes below 2^kBits.
template <int kBits>
I32 Dot(I32 sum, const Codes& codes, const int8_t* quad) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 4; ++j) sum.lane[i] += codes.byte[4 * i + j] * quad[j];
  }
  return sum;
}
// Integers of -128 … 127 as bytes.
inline void StoreI8(const F32& a, int8_t* to) {
  for (int i = 0; i < 16; ++i) to[i] = static_cast<int8_t>(a.lane[i]);
}

}  // namespace ekvi::kernels::scalar
