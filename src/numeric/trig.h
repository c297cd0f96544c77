// Sine, cosine, logarithm and power of one double: for the tables of rotary positions and for configuration.
//
// None of them calls the C library's functions, which differ between machines: the same bits everywhere. Not for inner
// loops. Errors measured by trig_test.cc.
#pragma once

namespace ekvi::numeric {

struct SineCosine {
  double sine = 0, cosine = 0;
};

// Absolute error below 3e-16 for |x| ≤ 2^31; NaN for both beyond, and for NaN.
SineCosine SinCos(double x);

// Natural logarithm, within 1 ulp. −inf at ±0, NaN below.
double Log(double x);

// e^x: Exp of math-inl.h.
double ExpD(double x);

// base^exponent for 0 < base, both finite; NaN for any other base. Within 2 ulp where |exponent × ln base| ≤ 32, 32 ulp
// at the ends of the range. 0 where the result is below the normal range, inf past it.
double Pow(double base, double exponent);

}  // namespace ekvi::numeric
