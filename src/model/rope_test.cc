// Goal: rotary tables are right at every position and for every way of stretching them. Method: published numbers,
// numbers computed from the papers' formulas by another program, and long double arithmetic.
#include "model/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace ekvi::model {
namespace {

struct Known {
  int pair;
  double frequency;
};

void ExpectFrequencies(const RopeConfig& rope, const std::vector<Known>& known) {
  const std::vector<double> frequencies = RopeFrequencies(rope);
  for (const Known& k : known) EXPECT_NEAR(frequencies[k.pair] / k.frequency, 1, 1e-6) << "pair " << k.pair;
}

TEST(BR_14, Llama3Scaling_HasTheseFrequencies) {
  const RopeConfig plain{.dims = 128, .base = 500000};
  ExpectFrequencies(
      plain, {{29, 2.61609925e-3}, {32, 1.41421356e-3}, {34, 9.38473870e-4}, {35, 7.64496988e-4}, {63, 2.45514079e-6}});
  RopeConfig scaled = plain;
  scaled.divisors = Llama3Divisors(128, 500000, {.factor = 8, .low_freq = 1, .high_freq = 4, .original_context = 8192});
  ExpectFrequencies(
      scaled,
      {{29, 2.16657076e-3}, {32, 5.24846161e-4}, {34, 1.78507813e-4}, {35, 9.55621235e-5}, {63, 3.06892599e-7}});
  for (int pair = 0; pair < 64; ++pair) {
    if (pair <= 28)
      EXPECT_EQ(scaled.divisors[pair], 1) << pair;
    else if (pair >= 35)
      EXPECT_EQ(scaled.divisors[pair], 8) << pair;
    else
      EXPECT_TRUE(scaled.divisors[pair] > 1 && scaled.divisors[pair] < 8) << pair;
  }
}

TEST(BR_14, Llama3Scaling_OfSmallHeads) {
  RopeConfig rope{.dims = 64, .base = 500000};
  rope.divisors = Llama3Divisors(64, 500000, {.factor = 32, .low_freq = 1, .high_freq = 4, .original_context = 8192});
  ExpectFrequencies(rope, {{15, 1.29054793e-3}, {16, 4.29556797e-4}, {17, 9.70828780e-5}, {18, 6.22772422e-4 / 32}});
  for (int pair = 0; pair <= 14; ++pair) EXPECT_EQ(rope.divisors[pair], 1) << pair;
  for (int pair = 18; pair < 32; ++pair) EXPECT_EQ(rope.divisors[pair], 32) << pair;
}

TEST(Rope, LinearScaling_DividesEveryFrequency) { EXPECT_EQ(LinearDivisors(8, 2.5), std::vector<double>(4, 2.5)); }

// Frequencies from the formulas of the paper and of the code of its authors.
TEST(Rope, Yarn_HasTheseFrequencies) {
  RopeConfig whole{.dims = 128, .base = 1e6};
  whole.divisors = YarnDivisors(128, 1e6, {.factor = 4, .original_context = 32768});
  ExpectFrequencies(whole, {{0, 1},
                            {23, 6.978305849e-3},
                            {24, 5.375321491e-3},
                            {30, 1.064360981e-3},
                            {35, 2.462584069e-4},
                            {40, 4.445698525e-5},
                            {41, 3.582531426e-5},
                            {63, 3.102344402e-7}});
  RopeConfig exact{.dims = 64, .base = 150000};
  exact.divisors = YarnDivisors(64, 150000, {.factor = 32, .original_context = 4096, .ramp = YarnRamp::kExact});
  ExpectFrequencies(exact, {{0, 1},
                            {8, 5.081327482e-2},
                            {9, 3.170569618e-2},
                            {12, 6.794959490e-3},
                            {17, 1.293187012e-4},
                            {18, 3.830881237e-5},
                            {31, 3.023511428e-7}});
}

TEST(Rope, YarnAttentionFactor_GrowsWithTheLogarithm) {
  EXPECT_EQ(YarnAttentionFactor(1), 1);
  EXPECT_EQ(YarnAttentionFactor(0.5), 1);
  EXPECT_NEAR(YarnAttentionFactor(4), 0.1 * std::log(4.0) + 1, 1e-15);
}

TEST(BR_69, AnglesOfFarPositions_AreExactInFloat32) {
  double worst = 0;
  for (const auto& [dims, base] : {std::pair{32, 10000.0}, std::pair{128, 10000.0}, std::pair{128, 500000.0}}) {
    const std::vector<double> frequencies = RopeFrequencies({.dims = dims, .base = base});
    std::vector<float> cos(dims / 2), sin(dims / 2);
    for (const int64_t position : {0, 1, 255, 256, 257, 1857, 4095, 15962, 131071}) {
      RopeAngles<float>(frequencies, 1, position, cos.data(), sin.data());
      for (int pair = 0; pair < dims / 2; ++pair) {
        const long double angle = position * std::pow(static_cast<long double>(base), -2.0L * pair / dims);
        const double error = std::max(std::abs(static_cast<double>(cos[pair] - std::cos(angle))),
                                      std::abs(static_cast<double>(sin[pair] - std::sin(angle))));
        EXPECT_LE(error, static_cast<double>(position) * 0x1p-23 + 1e-6) << position << " " << pair;
        worst = std::max(worst, error);
      }
    }
  }
  std::printf("worst error of a float32 sine or cosine: %.3g\n", worst);
  EXPECT_LT(worst, 4e-8);  // half a unit of float32 at 1, and what float64 angles lose
}

TEST(BR_69, AngleAtPosition1857_IsThePublishedOne) {
  EXPECT_NEAR(1857 * RopeFrequencies({.dims = 32, .base = 10000})[1], 1044.2678, 1e-4);
}

TEST(Rope, AttentionFactor_MultipliesBoth) {
  const std::vector<double> frequencies = RopeFrequencies({.dims = 4, .base = 100});
  double plain[4], scaled[4];
  RopeAngles<double>(frequencies, 1, 77, plain, plain + 2);
  RopeAngles<double>(frequencies, 1.25, 77, scaled, scaled + 2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(scaled[i], 1.25 * plain[i]);
}

}  // namespace
}  // namespace ekvi::model
