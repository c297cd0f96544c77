// SinCos takes whole quarter turns off, π/2 being split into pieces whose products with their number are exact.
//
// Log works on x = 2^k m, √½ ≤ m < √2, with ln m = 2 atanh(s), s = (m − 1) / (m + 1). Both s and the sum are kept as a
// pair of doubles (a rounded value and what the rounding left), since Pow multiplies the logarithm, and with it its
// error, before taking the exponential.
#include "numeric/trig.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "numeric/math-inl.h"

namespace ekvi::numeric {
namespace {

using Table = MathTable<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallestNormal = 0x1p-1022;

// The value is high + low.
struct Pair {
  double high, low;
};

// Requires |a| ≥ |b|, or a = 0.
Pair FastTwoSum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

struct Split {
  double exponent, mantissa;  // √½ ≤ mantissa < √2
};

// x > 0, finite.
Split SplitNumber(double x) {
  const bool subnormal = x < kSmallestNormal;
  const auto bits = std::bit_cast<uint64_t>(subnormal ? x * 0x1p54 : x);
  const auto exponent = static_cast<double>(static_cast<int>(bits >> 52) - 1023 - (subnormal ? 54 : 0));
  const auto mantissa = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | uint64_t{1023} << 52);
  return mantissa < Table::kSqrtTwo ? Split{exponent, mantissa} : Split{exponent + 1, mantissa / 2};
}

// ln x for a finite x > 0, to about 2^-58 of itself.
Pair LogPair(double x) {
  const auto [exponent, mantissa] = SplitNumber(x);
  const double above = mantissa - 1;
  const double below = mantissa + 1;
  const double below_rest = mantissa - (below - 1);
  const double s = above / below;
  const double s_rest = (Fma(-s, below, above) - s * below_rest) / below;
  const double z = s * s;
  const double tail = s * z * math::Horner(z, Table::kAtanh);
  const Pair sum = FastTwoSum(exponent * -Table::kMinusLn2High, 2 * s);
  return FastTwoSum(sum.high, sum.low + (2 * (s_rest + tail) + exponent * -Table::kMinusLn2Low));
}

}  // namespace

SineCosine SinCos(double x) {
  if (!(Abs(x) <= 0x1p31)) return {kNan, kNan};
  const double quarters = Round(x * Table::kTwoOverPi);
  double r = x;
  for (const double piece : Table::kMinusHalfPi) r = Fma(quarters, piece, r);
  const double z = r * r;
  const double sine = Fma(r * z, math::Horner(z, Table::kSin), r);
  const double cosine = Fma(z * z, math::Horner(z, Table::kCos), Fma(-0.5, z, 1.0));
  switch (static_cast<int64_t>(quarters) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

double Log(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNan;
  if (x == kInfinity) return x;
  const Pair log = LogPair(x);
  return log.high + log.low;
}

double ExpD(double x) { return Exp(x); }

double Pow(double base, double exponent) {
  if (!(base > 0 && base < kInfinity)) return kNan;
  if (base == 1 || exponent == 0) return 1;
  const Pair log = LogPair(base);
  const double product = exponent * log.high;
  const double power = Exp(product);
  if (power == 0 || power == kInfinity) return power;
  const double rest = Fma(exponent, log.high, -product) + exponent * log.low;
  return Fma(power, rest, power);
}

}  // namespace ekvi::numeric
