// Sixteen lanes on AVX-512 (F, BW, DQ, VL): one register of float, two of double. Included by target_avx512.cc only.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "numeric/math-inl.h"

#define EKVI_INLINE [[gnu::always_inline]] inline

namespace ekvi::kernels::avx512 {

// 8 rows × 2 vectors keep both FMA ports busy (latency 4, two ports: 8 chains at least) and leave registers for B.
inline constexpr int kAccumulators = 16;
inline constexpr int kRowsMax = 8;
// A tile of values read in the order of memory: whole rows of 128 columns.
inline constexpr int kStreamRows = 3, kStreamVectors = 8;
// The int8 product: 6 rows × 2 panels are 12 dot products and 12 sums in registers. Fewer where a step has two scales,
// whose common sum needs registers too; from kInt8ManyRows rows on those are taken apart once for all.
inline constexpr int kInt8Rows = 6, kInt8RowsOfPlanes = 6, kInt8RowsOfHalves = 4, kInt8Panels = 2;
inline constexpr int kInt8ManyRows = 24, kInt8FewRows = 8, kInt8FewRowsOfParts = 8, kInt8PanelsOfOne = 4;

struct F32 {
  using Lane = float;
  __m512 v;
  F32() = default;
  EKVI_INLINE explicit F32(float x) : v(_mm512_set1_ps(x)) {}
  EKVI_INLINE explicit F32(__m512 x) : v(x) {}
};
struct F64 {
  using Lane = double;
  __m512d lo, hi;
  F64() = default;
  EKVI_INLINE explicit F64(double x) : lo(_mm512_set1_pd(x)), hi(lo) {}
  EKVI_INLINE F64(__m512d a, __m512d b) : lo(a), hi(b) {}
};
using Mask = __mmask16;

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

EKVI_INLINE __mmask8 Low(Mask m) { return static_cast<__mmask8>(m); }
EKVI_INLINE __mmask8 High(Mask m) { return static_cast<__mmask8>(m >> 8); }
EKVI_INLINE Mask Join(__mmask8 lo, __mmask8 hi) { return static_cast<Mask>(lo | (static_cast<unsigned>(hi) << 8)); }

EKVI_INLINE F32 operator+(F32 a, F32 b) { return F32(_mm512_add_ps(a.v, b.v)); }
EKVI_INLINE F32 operator-(F32 a, F32 b) { return F32(_mm512_sub_ps(a.v, b.v)); }
EKVI_INLINE F32 operator*(F32 a, F32 b) { return F32(_mm512_mul_ps(a.v, b.v)); }
EKVI_INLINE F32 operator/(F32 a, F32 b) { return F32(_mm512_div_ps(a.v, b.v)); }
EKVI_INLINE F32 operator-(F32 a) { return F32(_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))); }
EKVI_INLINE F32 Fma(F32 a, F32 b, F32 c) { return F32(_mm512_fmadd_ps(a.v, b.v, c.v)); }
// a × b + c with `a` in every lane, straight from memory: a broadcast into a register takes a port that converting
// halves needs (docs/decisions/0014-blocks-of-a-layer-together.md).
EKVI_INLINE F32 FmaFrom(const float* a, F32 b, F32 c) {
  asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(c.v) : "v"(b.v), "m"(*a));
  return c;
}
EKVI_INLINE F32 Sqrt(F32 a) { return F32(_mm512_sqrt_ps(a.v)); }
EKVI_INLINE F32 Abs(F32 a) { return F32(_mm512_abs_ps(a.v)); }
EKVI_INLINE F32 Round(F32 a) { return F32(_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)); }
EKVI_INLINE F32 Pow2(F32 n) {
  return F32(
      _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n.v), _mm512_set1_epi32(127)), 23)));
}
EKVI_INLINE F32 Max(F32 a, F32 b) { return F32(_mm512_max_ps(a.v, b.v)); }
EKVI_INLINE F32 Min(F32 a, F32 b) { return F32(_mm512_min_ps(a.v, b.v)); }
EKVI_INLINE F32 CopySign(F32 a, F32 b) {
  const __m512 sign = _mm512_set1_ps(-0.0f);
  return F32(_mm512_or_ps(_mm512_andnot_ps(sign, a.v), _mm512_and_ps(sign, b.v)));
}
EKVI_INLINE Mask Less(F32 a, F32 b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
EKVI_INLINE Mask LessEqual(F32 a, F32 b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ); }
EKVI_INLINE Mask IsNan(F32 a) { return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q); }
EKVI_INLINE F32 Select(Mask m, F32 yes, F32 no) { return F32(_mm512_mask_blend_ps(m, no.v, yes.v)); }

EKVI_INLINE F64 operator+(F64 a, F64 b) { return {_mm512_add_pd(a.lo, b.lo), _mm512_add_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 operator-(F64 a, F64 b) { return {_mm512_sub_pd(a.lo, b.lo), _mm512_sub_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 operator*(F64 a, F64 b) { return {_mm512_mul_pd(a.lo, b.lo), _mm512_mul_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 operator/(F64 a, F64 b) { return {_mm512_div_pd(a.lo, b.lo), _mm512_div_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 operator-(F64 a) {
  const __m512d sign = _mm512_set1_pd(-0.0);
  return {_mm512_xor_pd(a.lo, sign), _mm512_xor_pd(a.hi, sign)};
}
EKVI_INLINE F64 Fma(F64 a, F64 b, F64 c) {
  return {_mm512_fmadd_pd(a.lo, b.lo, c.lo), _mm512_fmadd_pd(a.hi, b.hi, c.hi)};
}
EKVI_INLINE F64 Sqrt(F64 a) { return {_mm512_sqrt_pd(a.lo), _mm512_sqrt_pd(a.hi)}; }
EKVI_INLINE F64 Abs(F64 a) { return {_mm512_abs_pd(a.lo), _mm512_abs_pd(a.hi)}; }
EKVI_INLINE F64 Round(F64 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm512_roundscale_pd(a.lo, kMode), _mm512_roundscale_pd(a.hi, kMode)};
}
EKVI_INLINE __m512d Pow2Half(__m512d n) {
  return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_add_epi64(_mm512_cvtpd_epi64(n), _mm512_set1_epi64(1023)), 52));
}
EKVI_INLINE F64 Pow2(F64 n) { return {Pow2Half(n.lo), Pow2Half(n.hi)}; }
EKVI_INLINE F64 Max(F64 a, F64 b) { return {_mm512_max_pd(a.lo, b.lo), _mm512_max_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 Min(F64 a, F64 b) { return {_mm512_min_pd(a.lo, b.lo), _mm512_min_pd(a.hi, b.hi)}; }
EKVI_INLINE F64 CopySign(F64 a, F64 b) {
  const __m512d sign = _mm512_set1_pd(-0.0);
  return {_mm512_or_pd(_mm512_andnot_pd(sign, a.lo), _mm512_and_pd(sign, b.lo)),
          _mm512_or_pd(_mm512_andnot_pd(sign, a.hi), _mm512_and_pd(sign, b.hi))};
}
EKVI_INLINE Mask Less(F64 a, F64 b) {
  return Join(_mm512_cmp_pd_mask(a.lo, b.lo, _CMP_LT_OQ), _mm512_cmp_pd_mask(a.hi, b.hi, _CMP_LT_OQ));
}
EKVI_INLINE Mask LessEqual(F64 a, F64 b) {
  return Join(_mm512_cmp_pd_mask(a.lo, b.lo, _CMP_LE_OQ), _mm512_cmp_pd_mask(a.hi, b.hi, _CMP_LE_OQ));
}
EKVI_INLINE Mask IsNan(F64 a) {
  return Join(_mm512_cmp_pd_mask(a.lo, a.lo, _CMP_UNORD_Q), _mm512_cmp_pd_mask(a.hi, a.hi, _CMP_UNORD_Q));
}
EKVI_INLINE F64 Select(Mask m, F64 yes, F64 no) {
  return {_mm512_mask_blend_pd(Low(m), no.lo, yes.lo), _mm512_mask_blend_pd(High(m), no.hi, yes.hi)};
}

// Lanes begin … end - 1; 0 ≤ begin ≤ end ≤ 16 after clamping.
template <typename V>
EKVI_INLINE Mask LanesIn(int begin, int end) {
  const auto below = [](int n) { return n <= 0 ? 0u : n >= 16 ? 0xFFFFu : (1u << n) - 1u; };
  return static_cast<Mask>(below(end) & ~below(begin));
}
EKVI_INLINE Mask Or(Mask a, Mask b) { return static_cast<Mask>(a | b); }

template <typename V>
EKVI_INLINE V Iota();
template <>
EKVI_INLINE F32 Iota<F32>() {
  return F32(_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
template <>
EKVI_INLINE F64 Iota<F64>() {
  return {_mm512_setr_pd(0, 1, 2, 3, 4, 5, 6, 7), _mm512_setr_pd(8, 9, 10, 11, 12, 13, 14, 15)};
}

template <typename V>
EKVI_INLINE V Load(const typename V::Lane* from);
template <>
EKVI_INLINE F32 Load<F32>(const float* from) {
  return F32(_mm512_loadu_ps(from));
}
template <>
EKVI_INLINE F64 Load<F64>(const double* from) {
  return {_mm512_loadu_pd(from), _mm512_loadu_pd(from + 8)};
}
template <typename V>
EKVI_INLINE V LoadPartial(const typename V::Lane* from, int count);
template <>
EKVI_INLINE F32 LoadPartial<F32>(const float* from, int count) {
  return F32(_mm512_maskz_loadu_ps(LanesIn<F32>(0, count), from));
}
template <>
EKVI_INLINE F64 LoadPartial<F64>(const double* from, int count) {
  const Mask m = LanesIn<F64>(0, count);
  return {_mm512_maskz_loadu_pd(Low(m), from), _mm512_maskz_loadu_pd(High(m), from + 8)};
}
EKVI_INLINE void Store(F32 a, float* to) { _mm512_storeu_ps(to, a.v); }
EKVI_INLINE void Store(F64 a, double* to) {
  _mm512_storeu_pd(to, a.lo);
  _mm512_storeu_pd(to + 8, a.hi);
}
EKVI_INLINE void StorePartial(F32 a, float* to, int count) { _mm512_mask_storeu_ps(to, LanesIn<F32>(0, count), a.v); }
EKVI_INLINE void StorePartial(F64 a, double* to, int count) {
  const Mask m = LanesIn<F64>(0, count);
  _mm512_mask_storeu_pd(to, Low(m), a.lo);
  _mm512_mask_storeu_pd(to + 8, High(m), a.hi);
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

EKVI_INLINE F64 WidenAs(ElementF64, const std::byte* p) { return Load<F64>(reinterpret_cast<const double*>(p)); }
EKVI_INLINE F32 WidenAs(ElementF32, const std::byte* p) { return F32(_mm512_loadu_ps(p)); }
EKVI_INLINE F32 FromF16(__m256i h) { return F32(_mm512_cvtph_ps(h)); }
EKVI_INLINE F32 FromBF16(__m256i h) {
  return F32(_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16)));
}
EKVI_INLINE F32 WidenAs(ElementF16, const std::byte* p) {
  return FromF16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
EKVI_INLINE F32 WidenAs(ElementBF16, const std::byte* p) {
  return FromBF16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}
EKVI_INLINE F32 WidenAs(ElementI8, const std::byte* p) {
  return F32(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))));
}
EKVI_INLINE F32 FromU8(__m128i bytes) { return F32(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes))); }
EKVI_INLINE F32 WidenAs(ElementU8, const std::byte* p) {
  return FromU8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
EKVI_INLINE F32 WidenAs(ElementLow4, const std::byte* p) {
  return FromU8(_mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), _mm_set1_epi8(15)));
}
EKVI_INLINE F32 WidenAs(ElementHigh4, const std::byte* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return FromU8(_mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(15)));
}
EKVI_INLINE F64 WidenPartialAs(ElementF64, const std::byte* p, int n) {
  return LoadPartial<F64>(reinterpret_cast<const double*>(p), n);
}
EKVI_INLINE F32 WidenPartialAs(ElementF32, const std::byte* p, int n) {
  return LoadPartial<F32>(reinterpret_cast<const float*>(p), n);
}
EKVI_INLINE F32 WidenPartialAs(ElementF16, const std::byte* p, int n) {
  return FromF16(_mm256_maskz_loadu_epi16(LanesIn<F32>(0, n), p));
}
EKVI_INLINE F32 WidenPartialAs(ElementBF16, const std::byte* p, int n) {
  return FromBF16(_mm256_maskz_loadu_epi16(LanesIn<F32>(0, n), p));
}
// Sixteen values of a storage type, exactly; Partial reads `count` and leaves zero in the other lanes.
template <typename V, typename E>
EKVI_INLINE V Widen(const std::byte* from) {
  return WidenAs(E{}, from);
}
template <typename V, typename E>
EKVI_INLINE V WidenPartial(const std::byte* from, int count) {
  return WidenPartialAs(E{}, from, count);
}

EKVI_INLINE float TreeAdd(__m256 x) {
  const __m128 y = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 z = _mm_add_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_add_ss(z, _mm_movehdup_ps(z)));
}
EKVI_INLINE float TreeMax(__m256 x) {
  const __m128 y = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 z = _mm_max_ps(y, _mm_movehl_ps(y, y));
  return _mm_cvtss_f32(_mm_max_ss(z, _mm_movehdup_ps(z)));
}
EKVI_INLINE double TreeAdd(__m256d x) {
  const __m128d y = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_add_sd(y, _mm_unpackhi_pd(y, y)));
}
EKVI_INLINE double TreeMax(__m256d x) {
  const __m128d y = _mm_max_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
  return _mm_cvtsd_f64(_mm_max_sd(y, _mm_unpackhi_pd(y, y)));
}
EKVI_INLINE float ReduceAdd(F32 a) {
  return TreeAdd(_mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1)));
}
EKVI_INLINE float ReduceMax(F32 a) {
  return TreeMax(_mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1)));
}
EKVI_INLINE double ReduceAdd(F64 a) {
  const __m512d x = _mm512_add_pd(a.lo, a.hi);
  return TreeAdd(_mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1)));
}
EKVI_INLINE double ReduceMax(F64 a) {
  const __m512d x = _mm512_max_pd(a.lo, a.hi);
  return TreeMax(_mm256_max_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1)));
}
EKVI_INLINE float FirstLane(F32 a) { return _mm512_cvtss_f32(a.v); }
EKVI_INLINE double FirstLane(F64 a) { return _mm512_cvtsd_f64(a.lo); }

// Sixteen 32-bit integers, and 16 × 4 bytes: four codes of each of 16 outputs.
struct I32 {
  __m512i v;
  I32() = default;
  EKVI_INLINE explicit I32(int32_t x) : v(_mm512_set1_epi32(x)) {}
  EKVI_INLINE explicit I32(__m512i x) : v(x) {}
};
struct Codes {
  __m512i v;
};

EKVI_INLINE F32 ToF32(I32 a) { return F32(_mm512_cvtepi32_ps(a.v)); }
EKVI_INLINE Codes LoadCodes(const std::byte* from) { return {_mm512_loadu_si512(from)}; }
EKVI_INLINE void StoreCodes(Codes a, std::byte* to) { _mm512_storeu_si512(to, a.v); }
// x × kFactor, a power of two, in every lane.
template <int kFactor>
EKVI_INLINE I32 Times(int32_t x) {
  static_assert((kFactor & (kFactor - 1)) == 0);
  return I32(_mm512_slli_epi32(_mm512_set1_epi32(x), __builtin_ctz(kFactor)));
}
EKVI_INLINE Codes operator|(Codes a, Codes b) { return {_mm512_or_si512(a.v, b.v)}; }
// Bits of each byte from kFrom on, moved to kTo; kMask is how many, as ones. They stay within the byte.
template <int kFrom, int kTo, int kMask>
EKVI_INLINE Codes MoveBits(Codes a) {
  __m512i moved = a.v;
  if constexpr (kFrom > kTo) moved = _mm512_srli_epi32(moved, kFrom - kTo);
  if constexpr (kFrom < kTo) moved = _mm512_slli_epi32(moved, kTo - kFrom);
  return {_mm512_and_si512(moved, _mm512_set1_epi8(static_cast<char>(kMask << kTo)))};
}
// table[code], codes below 16.
EKVI_INLINE Codes Lookup(Codes a, const uint8_t* table) {
  const __m128i entries = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), a.v)};
}
// Byte kByte of each output.
template <int kByte>
EKVI_INLINE F32 ByteOf(Codes a) {
  const __m512i moved = kByte == 0 ? a.v : _mm512_srli_epi32(a.v, 8 * kByte);
  return F32(_mm512_cvtepi32_ps(_mm512_and_si512(moved, _mm512_set1_epi32(255))));
}
EKVI_INLINE __m512i Quad(const int8_t* quad) {
  int32_t bytes;
  __builtin_memcpy(&bytes, quad, sizeof(bytes));
  return _mm512_set1_epi32(bytes);
}
// The dot product without VNNI. Pairs of 16 bits saturate: codes of 8 bits go in two parts.
template <int kBits>
EKVI_INLINE I32 DotInPairs(I32 sum, Codes codes, const int8_t* quad) {
  const __m512i x = Quad(quad), ones = _mm512_set1_epi16(1);
  if constexpr (kBits <= 7) {
    return I32(_mm512_add_epi32(sum.v, _mm512_madd_epi16(_mm512_maddubs_epi16(codes.v, x), ones)));
  } else {
    const __m512i low = _mm512_and_si512(codes.v, _mm512_set1_epi8(127));
    const __m512i top = _mm512_and_si512(_mm512_srli_epi32(codes.v, 7), _mm512_set1_epi8(1));
    const __m512i part = _mm512_madd_epi16(_mm512_maddubs_epi16(low, x), ones);
    const __m512i rest = _mm512_madd_epi16(_mm512_maddubs_epi16(top, x), _mm512_set1_epi16(128));
    return I32(_mm512_add_epi32(sum.v, _mm512_add_epi32(part, rest)));
  }
}
// Integers of -128 … 127 as bytes.
EKVI_INLINE void StoreI8(F32 a, int8_t* to) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(a.v)));
}

}  // namespace ekvi::kernels::avx512
