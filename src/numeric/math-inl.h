// The elementary functions of the law, written once for every width: the same operations in the same order on a scalar
// and on each lane of a vector, hence the same bits everywhere.
//
// V is float, double, or a vector type of src/kernels with the same free functions (see numeric/scalar_ops.h for the
// list that a type must bring). Everything here is a template on V and always inlined: no copy compiled for one target
// can be taken for another.
//
// NaN stays NaN in all of them. Results below the normal range (2^-126, 2^-1022) may be +0 or −0 instead of subnormal,
// as said at each. Errors are bounds in units in the last place (ulp), float | double, over all results in the normal
// range; math_test.cc measures samples and prints the worst (for float, at least every fifth argument was tried once).
// The law's control word (base/fpenv.h) is assumed.
#pragma once

#include <cstddef>

#include "numeric/math_tables.h"
#include "numeric/scalar_ops.h"

namespace ekvi::numeric {
namespace math {

template <typename V>
[[gnu::always_inline]] inline V Constant(LaneOf<V> value) {
  return V(value);
}

// c[I] + x (c[I+1] + x (… + x c[last])), one Fma each.
template <size_t I = 0, typename V, size_t kCount>
[[gnu::always_inline]] inline V Horner(V x, const LaneOf<V> (&c)[kCount]) {
  if constexpr (I + 1 == kCount) {
    return Constant<V>(c[I]);
  } else {
    return Fma(Horner<I + 1>(x, c), x, Constant<V>(c[I]));
  }
}

// x = n ln 2 + r, |r| ≤ ln 2 / 2, n integral.
template <typename V>
struct Reduced {
  V n, r;
};
template <typename V>
[[gnu::always_inline]] inline Reduced<V> ReduceByLn2(V x) {
  using Table = MathTable<LaneOf<V>>;
  const V n = Round(x * Constant<V>(Table::kLog2E));
  const V high = Fma(n, Constant<V>(Table::kMinusLn2High), x);
  return {n, Fma(n, Constant<V>(Table::kMinusLn2Low), high)};
}

// exp(x) − 1, accurate near 0 too; |x| ≤ 80 (700). From 2^n exp(r) − 1 = 2^n (exp(r) − 1) + (2^n − 1).
template <typename V>
[[gnu::always_inline]] inline V Expm1(V x) {
  const auto [n, r] = ReduceByLn2(x);
  const V fraction = Fma(r * r, Horner(r, MathTable<LaneOf<V>>::kExpm1), r);
  const V scale = Pow2(n);
  return Fma(scale, fraction, scale - Constant<V>(1));
}

// x, but −inf as the lowest finite number: 0 × −inf would be NaN where the function's limit is 0.
template <typename V>
[[gnu::always_inline]] inline V Finite(V x) {
  return Max(Constant<V>(MathTable<LaneOf<V>>::kLowest), x);
}

}  // namespace math

// e^x for x ≤ 0 (softmax after the maximum is subtracted), NaN included: the bits of Exp(x), four operations fewer.
template <typename V>
[[gnu::always_inline]] inline V ExpNonPositive(V x) {
  using Table = MathTable<LaneOf<V>>;
  const auto [n, r] = math::ReduceByLn2(Max(math::Constant<V>(Table::kExpClampLow), x));
  const V fraction = Fma(r, math::Horner(r, Table::kExp), math::Constant<V>(1));
  return Select(Less(x, math::Constant<V>(Table::kExpFlush)), math::Constant<V>(0), fraction * Pow2(n));
}

// e^x, 2 | 1 ulp. exp(±0) = 1, exp(−inf) = +0, exp(+inf) = +inf; a result below the normal range is +0, one past it
// +inf. The largest results need the factor 2^128 (2^1024), which is no number: the exponent's excess over 127 (1023)
// is 0 or 1, and 1 + excess is 2^excess.
template <typename V>
[[gnu::always_inline]] inline V Exp(V x) {
  using Table = MathTable<LaneOf<V>>;
  const V clamped = Min(math::Constant<V>(Table::kExpClampHigh), Max(math::Constant<V>(Table::kExpClampLow), x));
  const auto [n, r] = math::ReduceByLn2(clamped);
  const V fraction = Fma(r, math::Horner(r, Table::kExp), math::Constant<V>(1));
  const V exponent = Min(n, math::Constant<V>(Table::kExponentMax));
  const V power = fraction * Pow2(exponent) * (math::Constant<V>(1) + (n - exponent));
  return Select(Less(x, math::Constant<V>(Table::kExpFlush)), math::Constant<V>(0), power);
}

// tanh(x) = m / (m + 2), m = exp(2|x|) − 1, with the sign of x; 2.6 | 2.5 ulp. Odd, ±1 at ±inf, ±0 at ±0.
template <typename V>
[[gnu::always_inline]] inline V Tanh(V x) {
  const V a = Min(math::Constant<V>(MathTable<LaneOf<V>>::kTanhOne), Abs(x));
  const V m = math::Expm1(a + a);
  return CopySign(m / (m + math::Constant<V>(2)), x);
}

// 1 / (1 + e^−x), 3.5 | 2.5 ulp. No overflow; 0 at −inf and wherever e^−x overflows, 1 at +inf.
template <typename V>
[[gnu::always_inline]] inline V Sigmoid(V x) {
  return math::Constant<V>(1) / (math::Constant<V>(1) + Exp(-x));
}

// erf(x) = 1 − exp(−g(|x|)) with the sign of x; g = −ln erfc is smooth, hence one polynomial. 3.2 | 2.5 ulp. Odd, ±1 at
// ±inf, ±0 at ±0.
template <typename V>
[[gnu::always_inline]] inline V Erf(V x) {
  using Table = MathTable<LaneOf<V>>;
  const V a = Min(math::Constant<V>(Table::kErfOne), Abs(x));
  return CopySign(math::Expm1(-(a * math::Horner(a, Table::kErf))), x);
}

// x sigmoid(x), as x / (1 + e^−x); 3.6 | 2.5 ulp. −0 at −inf and wherever e^−x overflows.
template <typename V>
[[gnu::always_inline]] inline V Silu(V x) {
  return math::Finite(x) / (math::Constant<V>(1) + Exp(-x));
}

// x/2 (1 + tanh(√(2/π) (x + 0.044715 x³))), as x / (1 + e^−2u), u being the argument of tanh: one exponential, and no
// cancellation for negative x. 3 | 3 ulp for |x| ≤ 1, 2 | 2 ulp of x anywhere. −0 at −inf.
template <typename V>
[[gnu::always_inline]] inline V GeluTanh(V x) {
  using Table = MathTable<LaneOf<V>>;
  const V twice = x * Fma(math::Constant<V>(Table::kGelu3), x * x, math::Constant<V>(Table::kGelu1));
  return math::Finite(x) / (math::Constant<V>(1) + Exp(-twice));
}

// x/2 (1 + erf(x / √2)); 2 | 2 ulp of x (the sum cancels where x is negative). −0 at −inf.
template <typename V>
[[gnu::always_inline]] inline V GeluErf(V x) {
  const V half = math::Constant<V>(LaneOf<V>(0.5));
  return math::Finite(x) * Fma(half, Erf(x * math::Constant<V>(MathTable<LaneOf<V>>::kSqrtHalf)), half);
}

}  // namespace ekvi::numeric
