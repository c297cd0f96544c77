// Goal: sine, cosine, logarithm and power are exact enough that tables of rotary positions carry only the rounding of
// their storage. Method: the C library in long double, over random arguments of every size and at the positions where
// 16-bit and single-precision angles are known to fail.
#include "numeric/trig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/random.h"

namespace ekvi::numeric {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double ErrorUlp(double value, long double truth) {
  int exponent;
  std::frexp(truth, &exponent);
  const long double ulp = std::ldexp(1.0L, std::max(exponent, std::numeric_limits<double>::min_exponent) - 53);
  return static_cast<double>(std::abs(static_cast<long double>(value) - truth) / ulp);
}

void Report(const char* name, double worst, const char* unit) {
  std::printf("  %-22s worst error %.4g %s\n", name, worst, unit);
  ::testing::Test::RecordProperty(name, std::to_string(worst));
}

double SinCosError(double x) {
  const auto [sine, cosine] = SinCos(x);
  const long double wide = x;
  return static_cast<double>(std::max(std::abs(static_cast<long double>(sine) - std::sin(wide)),
                                      std::abs(static_cast<long double>(cosine) - std::cos(wide))));
}

TEST(SinCos, AnyPosition_IsExactTo3e16) {
  base::Random random(101);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    const double size = std::ldexp(1.0, static_cast<int>(random.Below(45)) - 13);
    worst = std::max(worst, SinCosError((2 * random.Unit() - 1) * size));
  }
  for (int position = 0; position < 200000; ++position) worst = std::max(worst, SinCosError(position));
  Report("SinCos", worst, "absolute");
  EXPECT_LT(worst, 3e-16);
}

TEST(SinCos, MultiplesOfAQuarterTurn_AreExact) {
  double worst = 0;
  for (int k = -1000000; k <= 1000000; k += 37) {
    const double x = k * (std::acos(-1.0) / 4);
    for (const double near : {std::nextafter(x, -kInfinity), x, std::nextafter(x, kInfinity)}) {
      worst = std::max(worst, SinCosError(near));
    }
  }
  EXPECT_LT(worst, 3e-16);
}

TEST(SinCos, OutsideItsRange_IsNan) {
  for (const double x : {kNan, kInfinity, -kInfinity, 0x1.0000000000001p31, -1e300}) {
    EXPECT_TRUE(std::isnan(SinCos(x).sine) && std::isnan(SinCos(x).cosine)) << x;
  }
  EXPECT_LT(SinCosError(0x1p31), 3e-16);
  EXPECT_LT(SinCosError(-0x1p31), 3e-16);
  EXPECT_EQ(SinCos(0).sine, 0);
  EXPECT_EQ(SinCos(0).cosine, 1);
}

// Tables for several head sizes and bases, rounded to float: against angles, sines and cosines in long double.
TEST(BR_69, AngleTableAtLargePositions_HasOnlyTheRoundingOfItsStorage) {
  double worst = 0;
  for (const int dim : {32, 64, 128}) {
    for (const double base : {10000.0, 500000.0, 1000000.0}) {
      for (const int position : {0, 1, 255, 256, 257, 1857, 4095, 15962, 131071}) {
        for (int pair = 0; pair < dim / 2; ++pair) {
          const auto [sine, cosine] = SinCos(position * Pow(base, -2.0 * pair / dim));
          const long double angle = position * std::pow(static_cast<long double>(base), -2.0L * pair / dim);
          const auto error = static_cast<double>(std::max(std::abs(static_cast<float>(sine) - std::sin(angle)),
                                                          std::abs(static_cast<float>(cosine) - std::cos(angle))));
          ASSERT_LE(error, position * 0x1p-23 + 1e-6) << position << " pair " << pair << " of " << dim;
          worst = std::max(worst, error);
        }
      }
    }
  }
  Report("RopeTable_f32", worst, "absolute");
  EXPECT_LT(worst, 3.1e-8);  // half a unit in the last place of a float below 1, and a little
}

TEST(BR_69, KnownAngle_IsNotTheOneOfHalfPrecision) {
  const double angle = 1857 * Pow(10000, -2.0 / 32);
  EXPECT_NEAR(angle, 1044.2678, 5e-5);
}

TEST(Log, AnyNumber_IsExactToOneUlp) {
  base::Random random(102);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    const double near_one = 1 + (random.Unit() - 0.5) * std::ldexp(1.0, -static_cast<int>(random.Below(50)));
    const double any = std::bit_cast<double>((random.Bits() >> 1) % std::bit_cast<uint64_t>(kInfinity));
    for (const double x : {near_one, any}) {
      if (x != 1) worst = std::max(worst, ErrorUlp(Log(x), std::log(static_cast<long double>(x))));
    }
  }
  Report("Log", worst, "ulp");
  EXPECT_LT(worst, 1);
}

TEST(Log, SpecialValues_GiveTheirLimits) {
  EXPECT_EQ(Log(1), 0);
  EXPECT_EQ(Log(0), -kInfinity);
  EXPECT_EQ(Log(-0.0), -kInfinity);
  EXPECT_EQ(Log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(Log(-1)) && std::isnan(Log(kNan)) && std::isnan(Log(-kInfinity)));
  EXPECT_LT(ErrorUlp(Log(5e-324), std::log(static_cast<long double>(5e-324))), 1);
}

double WorstPow(double most_log, uint64_t seed) {
  base::Random random(seed);
  double worst = 0;
  for (int i = 0; i < 400000; ++i) {
    const double base = std::exp((2 * random.Unit() - 1) * 20);
    const double exponent = (2 * random.Unit() - 1) * most_log / std::abs(std::log(base));
    const long double truth = std::pow(static_cast<long double>(base), static_cast<long double>(exponent));
    worst = std::max(worst, ErrorUlp(Pow(base, exponent), truth));
  }
  return worst;
}

TEST(Pow, AnyResult_IsExactToItsBound) {
  const double small = WorstPow(32, 103), large = WorstPow(708, 104);
  Report("Pow_log_below_32", small, "ulp");
  Report("Pow", large, "ulp");
  EXPECT_LT(small, 2);
  EXPECT_LT(large, 32);
}

TEST(Pow, SpecialValues_GiveTheirLimits) {
  EXPECT_EQ(Pow(1, 123.5), 1);
  EXPECT_EQ(Pow(7, 0), 1);
  EXPECT_EQ(Pow(2, 10), 1024);
  EXPECT_EQ(Pow(10, 400), kInfinity);
  EXPECT_EQ(Pow(10, -400), 0);
  for (const double base : {0.0, -2.0, kInfinity, kNan}) EXPECT_TRUE(std::isnan(Pow(base, 2)));
  EXPECT_TRUE(std::isnan(Pow(2, kNan)));
}

TEST(ExpD, IsTheExponentialOfTheLaw) {
  EXPECT_EQ(ExpD(0), 1);
  EXPECT_LT(ErrorUlp(ExpD(1), std::exp(1.0L)), 1);
  EXPECT_EQ(ExpD(-kInfinity), 0);
}

}  // namespace
}  // namespace ekvi::numeric
