// Goal: exactly the well-formed byte sequences of RFC 3629 pass. Method: every code point is encoded by hand, every
// two-byte string is judged by the table of the RFC's section 4, and each kind of fault is tried once.
#include "engine/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace ekvi::engine {
namespace {

std::string Encoded(uint32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePoint_IsWholeAndItsBeginningsAreNot) {
  for (uint32_t code = 0; code < 0x120000; ++code) {
    const std::string text = Encoded(code);
    const bool valid = code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    ASSERT_EQ(ValidUtf8Prefix(text), valid ? text.size() : 0u) << code;
    if (text.size() > 1) {
      ASSERT_EQ(ValidUtf8Prefix(text.substr(0, text.size() - 1)), 0u) << code;
    }
  }
}

TEST(Utf8, EveryPairOfBytes_PassesAsTheTableSays) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const bool two = a >= 0xC2 && a <= 0xDF && b >= 0x80 && b <= 0xBF;
      const size_t wanted = two || (a < 0x80 && b < 0x80) ? 2 : a < 0x80 ? 1 : 0;
      ASSERT_EQ(ValidUtf8Prefix(std::string{static_cast<char>(a), static_cast<char>(b)}), wanted) << a << " " << b;
    }
  }
}

TEST(Utf8, Faults_EndThePrefix) {
  EXPECT_EQ(ValidUtf8Prefix(""), 0u);
  EXPECT_EQ(ValidUtf8Prefix("ab\x80"), 2u);
  EXPECT_EQ(ValidUtf8Prefix("é\xE0\x80\x80"), 2u);     // overlong
  EXPECT_EQ(ValidUtf8Prefix("\xF0\x80\x80\x80"), 0u);  // overlong
  EXPECT_EQ(ValidUtf8Prefix("🙂\xF0\x9F\x99"), 4u);  // cut
  EXPECT_EQ(ValidUtf8Prefix("\xF0\x9F\x99 "), 0u);     // broken off
  EXPECT_EQ(ValidUtf8Prefix("\xF5\x80\x80\x80"), 0u);  // above U+10FFFF
}

}  // namespace
}  // namespace ekvi::engine
