// Sixteen lanes on AVX2 with FMA and F16C: two registers of float, four of double. Included by target_avx2*.cc only,
// which have the same flags: what the linker merges is the same code.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "numeric/math-inl.h"

#define EKVI_INLINE [[gnu::always_inline]] inline

namespace ekvi::kernels::avx2 {

// 6 rows × 1 vector of two registers: 12 of the 16 registers hold sums, 2 hold B, 1 a value of A.
inline constexpr int kAccumulators = 6;
inline constexpr int kRowsMax = 6;
inline constexpr int kStreamRows = 1, kStreamVectors = 8;
// The int8 product: 4 rows × 1 panel are 8 registers of dot products; sums wait in memory for the end of a step.
inline constexpr int kInt8Rows = 4, kInt8RowsOfPlanes = 4, kInt8RowsOfHalves = 4, kInt8Panels = 1;
inline constexpr int kInt8ManyRows = 24, kInt8FewRows = 4, kInt8FewRowsOfParts = 4, kInt8PanelsOfOne = 2;

struct F32 {
  using Lane = float;
  __m256 r[2];
  F32() = default;
  EKVI_INLINE explicit F32(float x) { r[0] = r[1] = _mm256_set1_ps(x); }
  EKVI_INLINE F32(__m256 a, __m256 b) { r[0] = a, r[1] = b; }
};
struct F64 {
  using Lane = double;
  __m256d r[4];
  F64() = default;
  EKVI_INLINE explicit F64(double x) { r[0] = r[1] = r[2] = r[3] = _mm256_set1_pd(x); }
};
// All bits of a lane set or clear.
struct Mask32 {
  __m256 r[2];
};
struct Mask64 {
  __m256d r[4];
};

template <typename T>
struct VecFor;
template <>
struct VecFor<float> {
  using Type = F32;
};
template <>
struct VecFor<double> {
  using Type = F64;
};
template <typename T>
using VecOf = typename VecFor<T>::Type;

// Applies an operation on registers to each register.
template <typename R, typename A, typename Op>
EKVI_INLINE R Each(const A& a, Op op) {
  R result;
#pragma GCC unroll 4
  for (size_t i = 0; i < sizeof(a.r) / 32; ++i) result.r[i] = op(a.r[i]);
  return result;
}
template <typename R, typename A, typename B, typename Op>
EKVI_INLINE R Each(const A& a, const B& b, Op op) {
  R result;
#pragma GCC unroll 4
  for (size_t i = 0; i < sizeof(a.r) / 32; ++i) result.r[i] = op(a.r[i], b.r[i]);
  return result;
}

EKVI_INLINE F32 operator+(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_add_ps(x, y); });
}
EKVI_INLINE F32 operator-(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_sub_ps(x, y); });
}
EKVI_INLINE F32 operator*(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_mul_ps(x, y); });
}
EKVI_INLINE F32 operator/(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_div_ps(x, y); });
}
EKVI_INLINE F32 operator-(F32 a) {
  return Each<F32>(a, [](__m256 x) { return _mm256_xor_ps(x, _mm256_set1_ps(-0.0f)); });
}
EKVI_INLINE F32 Fma(F32 a, F32 b, F32 c) {
  return {_mm256_fmadd_ps(a.r[0], b.r[0], c.r[0]), _mm256_fmadd_ps(a.r[1], b.r[1], c.r[1])};
}
EKVI_INLINE F32 Sqrt(F32 a) {
  return Each<F32>(a, [](__m256 x) { return _mm256_sqrt_ps(x); });
}
EKVI_INLINE F32 Abs(F32 a) {
  return Each<F32>(a, [](__m256 x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); });
}
EKVI_INLINE F32 Round(F32 a) {
  return Each<F32>(a, [](__m256 x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); });
}
EKVI_INLINE F32 Pow2(F32 n) {
  return Each<F32>(n, [](__m256 x) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(x), _mm256_set1_epi32(127)), 23));
  });
}
EKVI_INLINE F32 Max(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_max_ps(x, y); });
}
EKVI_INLINE F32 Min(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) { return _mm256_min_ps(x, y); });
}
EKVI_INLINE F32 CopySign(F32 a, F32 b) {
  return Each<F32>(a, b, [](__m256 x, __m256 y) {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    return _mm256_or_ps(_mm256_andnot_ps(sign, x), _mm256_and_ps(sign, y));
  });
}
EKVI_INLINE Mask32 Less(F32 a, F32 b) {
  return Each<Mask32>(a, b, [](__m256 x, __m256 y) { return _mm256_cmp_ps(x, y, _CMP_LT_OQ); });
}
EKVI_INLINE Mask32 LessEqual(F32 a, F32 b) {
  return Each<Mask32>(a, b, [](__m256 x, __m256 y) { return _mm256_cmp_ps(x, y, _CMP_LE_OQ); });
}
EKVI_INLINE Mask32 IsNan(F32 a) {
  return Each<Mask32>(a, [](__m256 x) { return _mm256_cmp_ps(x, x, _CMP_UNORD_Q); });
}
EKVI_INLINE F32 Select(Mask32 m, F32 yes, F32 no) {
  return {_mm256_blendv_ps(no.r[0], yes.r[0], m.r[0]), _mm256_blendv_ps(no.r[1], yes.r[1], m.r[1])};
}
EKVI_INLINE Mask32 Or(Mask32 a, Mask32 b) {
  return Each<Mask32>(a, b, [](__m256 x, __m256 y) { return _mm256_or_ps(x, y); });
}

EKVI_INLINE F64 operator+(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_add_pd(x, y); });
}
EKVI_INLINE F64 operator-(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_sub_pd(x, y); });
}
EKVI_INLINE F64 operator*(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_mul_pd(x, y); });
}
EKVI_INLINE F64 operator/(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_div_pd(x, y); });
}
EKVI_INLINE F64 operator-(F64 a) {
  return Each<F64>(a, [](__m256d x) { return _mm256_xor_pd(x, _mm256_set1_pd(-0.0)); });
}
EKVI_INLINE F64 Fma(F64 a, F64 b, F64 c) {
  F64 result;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) result.r[i] = _mm256_fmadd_pd(a.r[i], b.r[i], c.r[i]);
  return result;
}
EKVI_INLINE F64 Sqrt(F64 a) {
  return Each<F64>(a, [](__m256d x) { return _mm256_sqrt_pd(x); });
}
EKVI_INLINE F64 Abs(F64 a) {
  return Each<F64>(a, [](__m256d x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); });
}
EKVI_INLINE F64 Round(F64 a) {
  return Each<F64>(a, [](__m256d x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); });
}
EKVI_INLINE F64 Pow2(F64 n) {
  return Each<F64>(n, [](__m256d x) {
    const __m256i exponent = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_cvtpd_epi32(x)), _mm256_set1_epi64x(1023));
    return _mm256_castsi256_pd(_mm256_slli_epi64(exponent, 52));
  });
}
EKVI_INLINE F64 Max(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_max_pd(x, y); });
}
EKVI_INLINE F64 Min(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) { return _mm256_min_pd(x, y); });
}
EKVI_INLINE F64 CopySign(F64 a, F64 b) {
  return Each<F64>(a, b, [](__m256d x, __m256d y) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return _mm256_or_pd(_mm256_andnot_pd(sign, x), _mm256_and_pd(sign, y));
  });
}
EKVI_INLINE Mask64 Less(F64 a, F64 b) {
  return Each<Mask64>(a, b, [](__m256d x, __m256d y) { return _mm256_cmp_pd(x, y, _CMP_LT_OQ); });
}
EKVI_INLINE Mask64 LessEqual(F64 a, F64 b) {
  return Each<Mask64>(a, b, [](__m256d x, __m256d y) { return _mm256_cmp_pd(x, y, _CMP_LE_OQ); });
}
EKVI_INLINE Mask64 IsNan(F64 a) {
  return Each<Mask64>(a, [](__m256d x) { return _mm256_cmp_pd(x, x, _CMP_UNORD_Q); });
}
EKVI_INLINE F64 Select(Mask64 m, F64 yes, F64 no) {
  F64 result;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) result.r[i] = _mm256_blendv_pd(no.r[i], yes.r[i], m.r[i]);
  return result;
}
EKVI_INLINE Mask64 Or(Mask64 a, Mask64 b) {
  return Each<Mask64>(a, b, [](__m256d x, __m256d y) { return _mm256_or_pd(x, y); });
}

template <typename V>
EKVI_INLINE V Iota();
template <>
EKVI_INLINE F32 Iota<F32>() {
  return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), _mm256_setr_ps(8, 9, 10, 11, 12, 13, 14, 15)};
}
template <>
EKVI_INLINE F64 Iota<F64>() {
  F64 result;
  for (int i = 0; i < 4; ++i) result.r[i] = _mm256_setr_pd(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
  return result;
}
EKVI_INLINE Mask32 And(Mask32 a, Mask32 b) {
  return Each<Mask32>(a, b, [](__m256 x, __m256 y) { return _mm256_and_ps(x, y); });
}
EKVI_INLINE Mask64 And(Mask64 a, Mask64 b) {
  return Each<Mask64>(a, b, [](__m256d x, __m256d y) { return _mm256_and_pd(x, y); });
}
// Lanes begin … end - 1.
template <typename V>
EKVI_INLINE auto LanesIn(int begin, int end) {
  const V iota = Iota<V>();
  using T = typename V::Lane;
  return And(LessEqual(V(static_cast<T>(begin)), iota), Less(iota, V(static_cast<T>(end))));
}

template <typename V>
EKVI_INLINE V Load(const typename V::Lane* from);
template <>
EKVI_INLINE F32 Load<F32>(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
template <>
EKVI_INLINE F64 Load<F64>(const double* from) {
  F64 result;
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) result.r[i] = _mm256_loadu_pd(from + 4 * i);
  return result;
}
EKVI_INLINE void Store(F32 a, float* to) {
  _mm256_storeu_ps(to, a.r[0]);
  _mm256_storeu_ps(to + 8, a.r[1]);
}
EKVI_INLINE void Store(F64 a, double* to) {
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) _mm256_storeu_pd(to + 4 * i, a.r[i]);
}
// Tails are rare and go through memory.
template <typename V>
EKVI_INLINE V LoadPartial(const typename V::Lane* from, int count) {
  alignas(32) typename V::Lane lanes[16] = {};
  for (int i = 0; i < count; ++i) lanes[i] = from[i];
  return Load<V>(lanes);
}
template <typename V>
EKVI_INLINE void StorePartial(V a, typename V::Lane* to, int count) {
  alignas(32) typename V::Lane lanes[16];
  Store(a, lanes);
  for (int i = 0; i < count; ++i) to[i] = lanes[i];
}

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

EKVI_INLINE __m128i Half(const std::byte* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
EKVI_INLINE __m256 FromBF16(__m128i h) { return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16)); }
EKVI_INLINE __m256 FromI8(__m128i b) { return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(b)); }
EKVI_INLINE F64 WidenAs(ElementF64, const std::byte* p) { return Load<F64>(reinterpret_cast<const double*>(p)); }
EKVI_INLINE F32 WidenAs(ElementF32, const std::byte* p) { return Load<F32>(reinterpret_cast<const float*>(p)); }
EKVI_INLINE F32 WidenAs(ElementF16, const std::byte* p) {
  return {_mm256_cvtph_ps(Half(p)), _mm256_cvtph_ps(Half(p + 16))};
}
EKVI_INLINE F32 WidenAs(ElementBF16, const std::byte* p) { return {FromBF16(Half(p)), FromBF16(Half(p + 16))}; }
EKVI_INLINE F32 WidenAs(ElementI8, const std::byte* p) {
  const __m128i bytes = Half(p);
  return {FromI8(bytes), FromI8(_mm_srli_si128(bytes, 8))};
}
EKVI_INLINE F32 FromU8(__m128i bytes) {
  return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)))};
}
EKVI_INLINE F32 WidenAs(ElementU8, const std::byte* p) { return FromU8(Half(p)); }
EKVI_INLINE F32 WidenAs(ElementLow4, const std::byte* p) { return FromU8(_mm_and_si128(Half(p), _mm_set1_epi8(15))); }
EKVI_INLINE F32 WidenAs(ElementHigh4, const std::byte* p) {
  return FromU8(_mm_and_si128(_mm_srli_epi16(Half(p), 4), _mm_set1_epi8(15)));
}
// Sixteen values of a storage type, exactly; Partial reads `count` and leaves zero in the other lanes.
template <typename V, typename E>
EKVI_INLINE V Widen(const std::byte* from) {
  return WidenAs(E{}, from);
}
template <typename V, typename E>
EKVI_INLINE V WidenPartial(const std::byte* from, int count) {
  alignas(32) std::byte copy[16 * E::kBytes] = {};
  std::memcpy(copy, from, static_cast<size_t>(count) * E::kBytes);
  return WidenAs(E{}, copy);
}

EKVI_INLINE float ReduceAdd(F32 a) {
  const __m256 x = _mm256_add_ps(a.r[0], a.r[1]);
  const __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 z = _mm_add_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_add_ss(z, _mm_movehdup_ps(z)));
}
EKVI_INLINE float ReduceMax(F32 a) {
  const __m256 x = _mm256_max_ps(a.r[0], a.r[1]);
  const __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 z = _mm_max_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_max_ss(z, _mm_movehdup_ps(z)));
}
EKVI_INLINE double ReduceAdd(F64 a) {
  const __m256d x = _mm256_add_pd(_mm256_add_pd(a.r[0], a.r[2]), _mm256_add_pd(a.r[1], a.r[3]));
  const __m128d y = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(y, _mm_unpackhi_pd(y, y)));
}
EKVI_INLINE double ReduceMax(F64 a) {
  const __m256d x = _mm256_max_pd(_mm256_max_pd(a.r[0], a.r[2]), _mm256_max_pd(a.r[1], a.r[3]));
  const __m128d y = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_max_sd(y, _mm_unpackhi_pd(y, y)));
}
EKVI_INLINE float FirstLane(F32 a) { return _mm256_cvtss_f32(a.r[0]); }
EKVI_INLINE double FirstLane(F64 a) { return _mm256_cvtsd_f64(a.r[0]); }

// Sixteen 32-bit integers, and 16 × 4 bytes: four codes of each of 16 outputs.
struct I32 {
  __m256i r[2];
  I32() = default;
  EKVI_INLINE explicit I32(int32_t x) { r[0] = r[1] = _mm256_set1_epi32(x); }
  EKVI_INLINE I32(__m256i a, __m256i b) { r[0] = a, r[1] = b; }
};
struct Codes {
  __m256i r[2];
};

EKVI_INLINE F32 ToF32(I32 a) { return {_mm256_cvtepi32_ps(a.r[0]), _mm256_cvtepi32_ps(a.r[1])}; }
EKVI_INLINE Codes LoadCodes(const std::byte* from) {
  const auto* at = reinterpret_cast<const __m256i*>(from);
  return {{_mm256_loadu_si256(at), _mm256_loadu_si256(at + 1)}};
}
EKVI_INLINE void StoreCodes(Codes a, std::byte* to) {
  auto* const at = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(at, a.r[0]);
  _mm256_storeu_si256(at + 1, a.r[1]);
}
// x × kFactor in every lane.
template <int kFactor>
EKVI_INLINE I32 Times(int32_t x) {
  return I32(kFactor * x);
}
EKVI_INLINE Codes operator|(Codes a, Codes b) {
  return {{_mm256_or_si256(a.r[0], b.r[0]), _mm256_or_si256(a.r[1], b.r[1])}};
}
// Bits of each byte from kFrom on, moved to kTo; kMask is how many, as ones. They stay within the byte.
template <int kFrom, int kTo, int kMask>
EKVI_INLINE Codes MoveBits(Codes a) {
  return Each<Codes>(a, [](__m256i x) {
    if constexpr (kFrom > kTo) x = _mm256_srli_epi32(x, kFrom - kTo);
    if constexpr (kFrom < kTo) x = _mm256_slli_epi32(x, kTo - kFrom);
    return _mm256_and_si256(x, _mm256_set1_epi8(static_cast<char>(kMask << kTo)));
  });
}
// table[code], codes below 16.
EKVI_INLINE Codes Lookup(Codes a, const uint8_t* table) {
  const __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
  return {{_mm256_shuffle_epi8(entries, a.r[0]), _mm256_shuffle_epi8(entries, a.r[1])}};
}
// Byte kByte of each output.
template <int kByte>
EKVI_INLINE F32 ByteOf(Codes a) {
  return Each<F32>(a, [](__m256i x) {
    if constexpr (kByte > 0) x = _mm256_srli_epi32(x, 8 * kByte);
    return _mm256_cvtepi32_ps(_mm256_and_si256(x, _mm256_set1_epi32(255)));
  });
}
EKVI_INLINE __m256i Quad(const int8_t* quad) {
  int32_t bytes;
  __builtin_memcpy(&bytes, quad, sizeof(bytes));
  return _mm256_set1_epi32(bytes);
}
// The dot product without VNNI. Pairs of 16 bits saturate: codes of 8 bits go in two parts.
template <int kBits>
EKVI_INLINE __m256i DotInPairs(__m256i sum, __m256i codes, __m256i x) {
  const __m256i ones = _mm256_set1_epi16(1);
  if constexpr (kBits <= 7) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(codes, x), ones));
  } else {
    const __m256i low = _mm256_and_si256(codes, _mm256_set1_epi8(127));
    const __m256i top = _mm256_and_si256(_mm256_srli_epi32(codes, 7), _mm256_set1_epi8(1));
    const __m256i part = _mm256_madd_epi16(_mm256_maddubs_epi16(low, x), ones);
    const __m256i rest = _mm256_madd_epi16(_mm256_maddubs_epi16(top, x), _mm256_set1_epi16(128));
    return _mm256_add_epi32(sum, _mm256_add_epi32(part, rest));
  }
}
template <int kBits>
EKVI_INLINE I32 DotInPairs(I32 sum, Codes codes, const int8_t* quad) {
  const __m256i x = Quad(quad);
  return {DotInPairs<kBits>(sum.r[0], codes.r[0], x), DotInPairs<kBits>(sum.r[1], codes.r[1], x)};
}
// Integers of -128 … 127 as bytes.
EKVI_INLINE void StoreI8(F32 a, int8_t* to) {
  const __m256i words = _mm256_packs_epi32(_mm256_cvtps_epi32(a.r[0]), _mm256_cvtps_epi32(a.r[1]));
  const __m256i sorted = _mm256_permute4x64_epi64(words, 0xD8);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                   _mm_packs_epi16(_mm256_castsi256_si128(sorted), _mm256_extracti128_si256(sorted, 1)));
}

}  // namespace ekvi::kernels::avx2
