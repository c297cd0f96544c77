// Goal: the scalar operations do what every vector type must match. Method: edges of the types, ties, NaN and both
// zeros.
#include "numeric/scalar_ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace ekvi::numeric {
namespace {

template <typename T>
using Limits = std::numeric_limits<T>;

template <typename T>
class ScalarOps : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ScalarOps, Types);

TYPED_TEST(ScalarOps, Round_IsNearbyintOfTheDefaultMode) {
  using T = TypeParam;
  base::Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const auto x = static_cast<T>(std::ldexp(random.Normal(), static_cast<int>(random.Below(60))));
    ASSERT_EQ(Round(x), std::nearbyint(x)) << x;
  }
  for (int half = -20; half <= 20; ++half) {
    const T x = T(half) / 2;
    ASSERT_EQ(Round(x), std::nearbyint(x));
    ASSERT_EQ(std::signbit(Round(x)), std::signbit(std::nearbyint(x)));
  }
  EXPECT_TRUE(std::signbit(Round(-T(0))));
  EXPECT_TRUE(std::signbit(Round(T(-0.25))));
  EXPECT_EQ(Round(Limits<T>::infinity()), Limits<T>::infinity());
  EXPECT_TRUE(std::isnan(Round(Limits<T>::quiet_NaN())));
}

TYPED_TEST(ScalarOps, Pow2_IsExactOverTheNormalRange) {
  using T = TypeParam;
  for (int n = Limits<T>::min_exponent - 1; n < Limits<T>::max_exponent; ++n) {
    ASSERT_EQ(Pow2(T(n)), std::ldexp(T(1), n)) << n;
  }
  EXPECT_EQ(Pow2(-T(0)), 1);
  EXPECT_EQ(Pow2(T(Limits<T>::min_exponent - 2)), 0);
}

TYPED_TEST(ScalarOps, MaxAndMin_ReturnTheSecondWhereOneIsNan) {
  using T = TypeParam;
  const T nan = Limits<T>::quiet_NaN();
  EXPECT_EQ(Max(nan, T(1)), 1);
  EXPECT_EQ(Min(nan, T(1)), 1);
  EXPECT_TRUE(std::isnan(Max(T(1), nan)));
  EXPECT_TRUE(std::isnan(Min(T(1), nan)));
  EXPECT_EQ(Max(T(1), T(2)), 2);
  EXPECT_EQ(Min(T(1), T(2)), 1);
  EXPECT_TRUE(std::signbit(Max(T(0), -T(0))));
  EXPECT_FALSE(std::signbit(Min(-T(0), T(0))));
}

TYPED_TEST(ScalarOps, SignsAndMasks_AreThoseOfTheBits) {
  using T = TypeParam;
  const T nan = Limits<T>::quiet_NaN();
  EXPECT_EQ(Abs(T(-3)), 3);
  EXPECT_FALSE(std::signbit(Abs(-nan)));
  EXPECT_EQ(CopySign(T(-3), T(2)), 3);
  EXPECT_EQ(CopySign(T(3), -T(0)), -3);
  EXPECT_TRUE(Less(T(1), T(2)) && !Less(T(2), T(2)) && LessEqual(T(2), T(2)));
  EXPECT_FALSE(Less(nan, T(1)) || LessEqual(T(1), nan) || IsNan(T(1)));
  EXPECT_TRUE(IsNan(nan));
  EXPECT_EQ(Select(true, T(1), T(2)), 1);
  EXPECT_EQ(Select(false, T(1), T(2)), 2);
  EXPECT_EQ(Sqrt(T(9)), 3);
}

TYPED_TEST(ScalarOps, Fma_RoundsOnce) {
  using T = TypeParam;
  const T epsilon = Limits<T>::epsilon();
  EXPECT_EQ(Fma(1 + epsilon, 1 - epsilon, T(-1)), -epsilon * epsilon);
}

}  // namespace
}  // namespace ekvi::numeric
