// Goal: every conversion is exact upward and rounded once to nearest even downward, in bulk as one by one. Method: all
// 65,536 codes of both 16-bit types, every midpoint between neighbours, and random numbers against an oracle that
// searches the table of all codes for the nearest.
#include "numeric/convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"

namespace ekvi::numeric {
namespace {

constexpr uint32_t kCodes = 65536;

// How a 16-bit format is laid out, and its value by definition: sign × mantissa × power of two, in double.
struct Format {
  DType type;
  int exponent_bits, mantissa_bits;

  uint32_t Infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  bool IsNan(uint32_t code) const { return (code & 0x7FFF) > Infinity(); }
  double Value(uint32_t code) const {
    const double sign = code >> 15 != 0 ? -1 : 1;
    const int exponent = static_cast<int>((code & 0x7FFF) >> mantissa_bits);
    const int mantissa = static_cast<int>(code & ((1u << mantissa_bits) - 1));
    const int bias = (1 << (exponent_bits - 1)) - 1;
    if ((code & 0x7FFF) == Infinity()) return sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  }
};
constexpr Format kF16{DType::kF16, 5, 10};
constexpr Format kBF16{DType::kBF16, 8, 7};

template <typename T>
uint32_t Rounded(const Format& format, T value) {
  return format.type == DType::kF16 ? ToF16(value).bits : ToBF16(value).bits;
}

float Widened(const Format& format, uint32_t code) {
  const auto bits = static_cast<uint16_t>(code);
  return format.type == DType::kF16 ? ToF32(F16{bits}) : ToF32(BF16{bits});
}

// The code nearest to a number that is not NaN, ties to the even code; past the midpoint between the largest finite
// value and the power of two above it, infinity.
uint32_t Nearest(const Format& format, double value) {
  const double magnitude = std::abs(value);
  uint32_t low = 0, high = format.Infinity();  // low ≤ magnitude < high
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    (format.Value(middle) <= magnitude ? low : high) = middle;
  }
  // Beyond the largest finite value the next code would be worth as much as one more step.
  const double step = low + 1 == format.Infinity() ? format.Value(low) - format.Value(low - 1)
                                                   : format.Value(low + 1) - format.Value(low);
  const double above = magnitude - format.Value(low);
  const bool up = std::isinf(magnitude) || above > step / 2 || (above == step / 2 && low % 2 == 1);
  return (std::signbit(value) ? 0x8000 : 0) | (up ? low + 1 : low);
}

class EachFormat : public ::testing::TestWithParam<Format> {};
INSTANTIATE_TEST_SUITE_P(Sixteen, EachFormat, ::testing::Values(kF16, kBF16),
                         [](const auto& info) { return std::string(DTypeName(info.param.type)); });

TEST_P(EachFormat, EveryCode_WidensToItsValue) {
  const Format format = GetParam();
  for (uint32_t code = 0; code < kCodes; ++code) {
    const float wide = Widened(format, code);
    ASSERT_EQ(std::signbit(wide), code >> 15 != 0) << code;
    if (format.IsNan(code)) {
      ASSERT_TRUE(std::isnan(wide)) << code;
    } else {
      ASSERT_EQ(static_cast<double>(wide), format.Value(code)) << code;
    }
  }
}

TEST_P(EachFormat, EveryCode_ComesBackFromFloatAndDouble) {
  const Format format = GetParam();
  for (uint32_t code = 0; code < kCodes; ++code) {
    const uint32_t quiet = format.IsNan(code) ? code | 1u << (format.mantissa_bits - 1) : code;
    ASSERT_EQ(Rounded(format, Widened(format, code)), quiet) << code;
    ASSERT_EQ(Rounded(format, static_cast<double>(Widened(format, code))), quiet) << code;
  }
}

TEST_P(EachFormat, EveryMidpointAndItsNeighbours_RoundToNearestEven) {
  const Format format = GetParam();
  for (uint32_t code = 0; code < format.Infinity(); ++code) {
    const double low = format.Value(code);
    const double step = code + 1 < format.Infinity() ? format.Value(code + 1) - low : low - format.Value(code - 1);
    const double middle = low + step / 2;
    const uint32_t even = code + code % 2;
    for (const double sign : {1.0, -1.0}) {
      const uint32_t bit = sign < 0 ? 0x8000 : 0;
      ASSERT_EQ(Rounded(format, sign * middle), even | bit) << code;
      ASSERT_EQ(Rounded(format, sign * std::nextafter(middle, 0.0)), code | bit) << code;
      ASSERT_EQ(Rounded(format, sign * std::nextafter(middle, 1e300)), (code + 1) | bit) << code;
      const auto single = static_cast<float>(middle);  // exact: one bit more than the format has
      const auto sign_single = static_cast<float>(sign);
      const float above = std::nextafter(single, std::numeric_limits<float>::infinity());
      ASSERT_EQ(Rounded(format, sign_single * single), even | bit) << code;
      ASSERT_EQ(Rounded(format, sign_single * std::nextafter(single, 0.0f)), code | bit) << code;
      ASSERT_EQ(Rounded(format, sign_single * above), (code + 1) | bit) << code;
    }
  }
}

TEST_P(EachFormat, RandomFloatsAndDoubles_RoundToTheNearestCode) {
  const Format format = GetParam();
  base::Random random(7001);
  for (int i = 0; i < 300000; ++i) {
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(random.Bits()));
    if (!std::isnan(single)) {
      ASSERT_EQ(Rounded(format, single), Nearest(format, single)) << single;
    }
    // Exponents around the format's range, all mantissa bits random.
    const double wide = std::ldexp(random.Unit() - 0.5, static_cast<int>(random.Below(320)) - 160);
    ASSERT_EQ(Rounded(format, wide), Nearest(format, wide)) << wide;
  }
}

TEST_P(EachFormat, DoubleJustPastAFloatMidpoint_IsRoundedOnce) {
  const Format format = GetParam();
  for (uint32_t code = 2; code + 1 < format.Infinity(); code += 2) {
    const double middle = (format.Value(code) + format.Value(code + 1)) / 2;
    const double above = middle * (1 + 0x1p-40);  // in float this is the midpoint, which would tie down
    ASSERT_EQ(Rounded(format, above), code + 1);
  }
}

TEST_P(EachFormat, DoubleExtremes_GiveZeroOrInfinityWithTheirSign) {
  const Format format = GetParam();
  const uint32_t infinity = format.Infinity();
  EXPECT_EQ(Rounded(format, 1e300), infinity);
  EXPECT_EQ(Rounded(format, -1e300), infinity | 0x8000);
  EXPECT_EQ(Rounded(format, -std::numeric_limits<double>::infinity()), infinity | 0x8000);
  EXPECT_EQ(Rounded(format, std::numeric_limits<double>::denorm_min()), 0u);
  EXPECT_EQ(Rounded(format, -1e-300), 0x8000u);
  EXPECT_EQ(Rounded(format, -0.0), 0x8000u);
  EXPECT_EQ(Rounded(format, -0.0f), 0x8000u);
}

TEST_P(EachFormat, NanPayload_IsCutToItsLeadingBits) {
  const Format format = GetParam();
  const uint32_t quiet = format.Infinity() | 1u << (format.mantissa_bits - 1);
  EXPECT_EQ(Rounded(format, std::bit_cast<float>(0xFF800001u)), quiet | 0x8000);
  EXPECT_EQ(Rounded(format, std::bit_cast<float>(0x7FA00000u)), quiet | 1u << (format.mantissa_bits - 2));
  EXPECT_EQ(Rounded(format, std::bit_cast<double>(0xFFF0000000000001ull)), quiet | 0x8000);
  EXPECT_EQ(Rounded(format, std::bit_cast<double>(0x7FF4000000000000ull)), quiet | 1u << (format.mantissa_bits - 2));
}

// All codes at every misalignment and with every tail: the bulk call takes its vector path and its rest.
template <typename T>
void CheckBulkWidening(const Format& format) {
  std::vector<std::byte> stored(2 * kCodes + 64);
  for (size_t offset = 0; offset < 3; ++offset) {
    for (uint32_t code = 0; code < kCodes; ++code) {
      const auto bits = static_cast<uint16_t>(code);
      std::memcpy(stored.data() + offset + 2 * code, &bits, 2);
    }
    std::vector<T> wide(kCodes);
    Widen(format.type, stored.data() + offset, wide.data(), kCodes);
    for (uint32_t code = 0; code < kCodes; ++code) {
      const T expected = static_cast<T>(Widened(format, code));
      ASSERT_EQ(std::memcmp(&wide[code], &expected, sizeof(T)), 0) << code;
    }
  }
}

TEST_P(EachFormat, BulkWidening_GivesTheBitsOfTheScalar) {
  CheckBulkWidening<float>(GetParam());
  CheckBulkWidening<double>(GetParam());
}

template <typename T>
void CheckBulkNarrowing(const Format& format, const std::vector<T>& wide) {
  for (size_t count = 0; count <= wide.size(); count = count < 40 ? count + 1 : std::max(wide.size(), count + 1)) {
    std::vector<std::byte> stored(2 * count + 3, std::byte{0x5A});
    Narrow(format.type, wide.data(), stored.data() + 1, count);
    for (size_t i = 0; i < count; ++i) {
      uint16_t bits;
      std::memcpy(&bits, stored.data() + 1 + 2 * i, 2);
      ASSERT_EQ(bits, Rounded(format, wide[i])) << i;
    }
    ASSERT_EQ(stored.front(), std::byte{0x5A});
    ASSERT_EQ(stored.back(), std::byte{0x5A});
  }
}

TEST_P(EachFormat, BulkNarrowing_GivesTheBitsOfTheScalar) {
  base::Random random(7002);
  std::vector<float> singles(200000);
  for (float& value : singles) value = std::bit_cast<float>(static_cast<uint32_t>(random.Bits()));
  for (uint32_t code = 0; code < kCodes; ++code) {  // every midpoint among them, NaN too
    const auto high = std::bit_cast<uint32_t>(Widened(GetParam(), code));
    singles.push_back(std::bit_cast<float>(high | 1u << (22 - GetParam().mantissa_bits)));
  }
  std::vector<double> doubles(singles.begin(), singles.end());
  CheckBulkNarrowing(GetParam(), singles);
  CheckBulkNarrowing(GetParam(), doubles);
}

template <typename T>
std::vector<std::byte> Stored(DType type, const std::vector<T>& values) {
  std::vector<std::byte> bytes(DTypeBytes(type, values.size()));
  Narrow(type, values.data(), bytes.data(), values.size());
  return bytes;
}

TEST(Convert, SameType_IsCopiedBitByBit) {
  const std::vector<float> singles = {1, -0.0f, std::bit_cast<float>(0x7F800001u), std::bit_cast<float>(1u)};
  std::vector<float> back(4);
  Widen(DType::kF32, Stored(DType::kF32, singles).data(), back.data(), 4);
  EXPECT_EQ(std::memcmp(back.data(), singles.data(), 16), 0);
  const std::vector<double> doubles = {1e300, -0.0, std::bit_cast<double>(0x7FF0000000000001ull)};
  std::vector<double> wide(3);
  Widen(DType::kF64, Stored(DType::kF64, doubles).data(), wide.data(), 3);
  EXPECT_EQ(std::memcmp(wide.data(), doubles.data(), 24), 0);
}

TEST(Convert, FloatAndDouble_CrossWithOneRounding) {
  std::vector<float> back(3);
  Widen(DType::kF64, Stored<double>(DType::kF64, {0.1, 1e300, 1 + 0x1p-24}).data(), back.data(), 3);
  EXPECT_EQ(back, (std::vector<float>{0.1f, std::numeric_limits<float>::infinity(), 1.0f}));
  std::vector<double> wide(1);
  Widen(DType::kF32, Stored<double>(DType::kF32, {0.1}).data(), wide.data(), 1);
  EXPECT_EQ(wide[0], static_cast<double>(0.1f));
}

TEST(DType, Names_ParseBack) {
  for (const DType type : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
    EXPECT_EQ(ParseDType(DTypeName(type)), type);
  }
  EXPECT_FALSE(ParseDType("F32").has_value());
  EXPECT_FALSE(ParseDType("").has_value());
}

TEST(DType, Bytes_CountValues) {
  EXPECT_EQ(DTypeBytes(DType::kF64, 3), 24u);
  EXPECT_EQ(DTypeBytes(DType::kF32, 3), 12u);
  EXPECT_EQ(DTypeBytes(DType::kF16, 3), 6u);
  EXPECT_EQ(DTypeBytes(DType::kBF16, 3), 6u);
}

}  // namespace
}  // namespace ekvi::numeric
