// Goal: sizes never wrap, and random streams are functions of (seed, index). Method: limits of the types, fixed values.
#include "base/checked.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "base/random.h"

namespace ekvi::base {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

TEST(Checked, Product_AtTheLimitIsGivenPastItIsNothing) {
  EXPECT_EQ(CheckedMul<uint64_t>(kMost, 1), kMost);
  EXPECT_EQ(CheckedMul<uint64_t>(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), kMost - (uint64_t{1} << 32) + 1);
  EXPECT_FALSE(CheckedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32).has_value());
  EXPECT_FALSE(CheckedMul<int64_t>(std::numeric_limits<int64_t>::min(), -1).has_value());
}

TEST(Checked, Sum_AtTheLimitIsGivenPastItIsNothing) {
  EXPECT_EQ(CheckedAdd<uint64_t>(kMost - 1, 1), kMost);
  EXPECT_FALSE(CheckedAdd<uint64_t>(kMost, 1).has_value());
}

TEST(Checked, RoundUp_GivesTheLeastMultipleOrNothing) {
  EXPECT_EQ(CheckedRoundUp<uint64_t>(0, 7), uint64_t{0});
  EXPECT_EQ(CheckedRoundUp<uint64_t>(1, 7), uint64_t{7});
  EXPECT_EQ(CheckedRoundUp<uint64_t>(14, 7), uint64_t{14});
  EXPECT_FALSE(CheckedRoundUp<uint64_t>(kMost, 2).has_value());
}

// The published first outputs of SplitMix64 for seed 1234567 (the test vector of Rosetta Code's "Pseudo-random
// numbers/Splitmix64").
TEST(Random, Bits_AreThoseOfSplitMix64) {
  Random random(1234567);
  for (const uint64_t expected : {6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull,
                                  4593380528125082431ull, 16408922859458223821ull}) {
    EXPECT_EQ(random.Bits(), expected);
  }
}

TEST(Random, Stream_IsAFunctionOfSeedAndIndex) {
  Random random(9);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(random.Bits(), RandomBits(9, i));
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(RandomUnit(9, i), 0);
    EXPECT_LT(RandomUnit(9, i), 1);
  }
}

}  // namespace
}  // namespace ekvi::base
