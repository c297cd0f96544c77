// Goal: numbers and foreign text read as people write them, and no byte of foreign text steers a terminal. Method:
// examples at the borders of each rule, and every single byte.
#include "cli/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace ekvi::cli {
namespace {

TEST(Format, Count_PutsACommaEveryThreeDigits) {
  EXPECT_EQ(Count(0), "0");
  EXPECT_EQ(Count(999), "999");
  EXPECT_EQ(Count(1000), "1,000");
  EXPECT_EQ(Count(9312), "9,312");
  EXPECT_EQ(Count(97517568), "97,517,568");
  EXPECT_EQ(Count(-999), "-999");
  EXPECT_EQ(Count(-1000), "-1,000");
  EXPECT_EQ(Count(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Format, CountOf_HasOneSingular) {
  EXPECT_EQ(CountOf(0, "token"), "0 tokens");
  EXPECT_EQ(CountOf(1, "token"), "1 token");
  EXPECT_EQ(CountOf(1024, "token"), "1,024 tokens");
}

TEST(Format, Bytes_HasThreeDigitsAndABinaryUnit) {
  EXPECT_EQ(Bytes(0), "0 B");
  EXPECT_EQ(Bytes(1023), "1023 B");
  EXPECT_EQ(Bytes(1024), "1 KiB");
  EXPECT_EQ(Bytes(1280), "1.25 KiB");
  EXPECT_EQ(Bytes(uint64_t{180} << 20), "180 MiB");
  EXPECT_EQ(Bytes(1845494), "1.76 MiB");
  EXPECT_EQ(Bytes(74200), "72.5 KiB");
  EXPECT_EQ(Bytes((uint64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(Bytes(UINT64_MAX), "16 EiB");
}

TEST(Format, Duration_HasTwoDigitsBelowTen) {
  EXPECT_EQ(Duration(0), "0 ns");
  EXPECT_EQ(Duration(999), "999 ns");
  EXPECT_EQ(Duration(1500), "1.5 µs");
  EXPECT_EQ(Duration(5'600'000), "5.6 ms");
  EXPECT_EQ(Duration(38'000'000), "38 ms");
  EXPECT_EQ(Duration(999'600'000), "1.0 s");
  EXPECT_EQ(Duration(61'000'000'000), "61 s");
}

TEST(Format, Rate_HasThreeDigits) {
  EXPECT_EQ(Rate(1.924), "1.92");
  EXPECT_EQ(Rate(19.24), "19.2");
  EXPECT_EQ(Rate(192.4), "192");
  EXPECT_EQ(Rate(12345), "12345");
}

TEST(Format, Printable_KeepsCharactersAndEscapesTheRest) {
  EXPECT_EQ(Printable("▁Once é 𝄞"), "▁Once é 𝄞");
  EXPECT_EQ(Printable("a\x1b[31m"), "a\\x1b[31m");
  EXPECT_EQ(Printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(Printable("a\nb", Lines::kKeep), "a\nb");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xc2\\x9b") << "a control sequence introducer in eight bits";
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xc0\\xaf") << "an overlong form";
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "past U+10FFFF";
  EXPECT_EQ(Printable("\xe2\x96"), "\\xe2\\x96") << "cut short";
}

TEST(Format, Printable_NeverLetsAControlByteThrough) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string shown = Printable(std::string(1, static_cast<char>(byte)));
    for (const char c : shown) EXPECT_TRUE(c >= 0x20 && c < 0x7F) << byte;
  }
}

TEST(Format, Quoted_CutsLongTextAtACharacter) {
  EXPECT_EQ(Quoted("abc"), "'abc'");
  EXPECT_EQ(Quoted(std::string(60, 'a')), "'" + std::string(60, 'a') + "'");
  EXPECT_EQ(Quoted(std::string(59, 'a') + "éé"), "'" + std::string(59, 'a') + "…'");
}

TEST(Format, DisplayWidth_CountsCharacters) {
  EXPECT_EQ(DisplayWidth(""), 0);
  EXPECT_EQ(DisplayWidth("512 × 49,152"), 12);
}

TEST(Format, Against_ShowsWhichIsLarger) {
  EXPECT_EQ(Against(2e-3, 2e-3), std::make_pair(std::string("0.002"), std::string("0.002")));
  EXPECT_EQ(Against(1.23456e-5, 2e-3).first, "1.235e-05");
  const auto [error, tolerance] = Against(2.00004e-3, 2e-3);
  EXPECT_EQ(error, "0.00200004");
  EXPECT_EQ(tolerance, "0.002");
  for (const double a : {1e-12, 1.5e-12, 0.06 * 17.3, 0.0}) {
    for (const double b : {a, std::nextafter(a, 1.0), a * 1.001, a * 2}) {
      const auto [x, y] = Against(b, a);
      EXPECT_EQ(std::strtod(x.c_str(), nullptr) <= std::strtod(y.c_str(), nullptr), b <= a) << x << " " << y;
    }
  }
  EXPECT_EQ(Against(std::numeric_limits<double>::infinity(), 1).first, "inf");
}

}  // namespace
}  // namespace ekvi::cli
