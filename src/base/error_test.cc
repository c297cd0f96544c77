// Goal: an error reads as three parts and no input can break its form. Method: fixed texts, control characters
// included.
#include "ekvi/error.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "base/random.h"
#include "base/utf8.h"

namespace ekvi {
namespace {

TEST(Error, AllParts_AreALineEach) {
  const Error error(ErrorCode::kCapacity, "row 3 is full", "length 8, limit 8", "a larger cache");
  EXPECT_EQ(error.code(), ErrorCode::kCapacity);
  EXPECT_STREQ(error.what(), "row 3 is full\n  length 8, limit 8\n  try: a larger cache");
}

TEST(Error, EmptyParts_AreLeftOut) {
  EXPECT_STREQ(Error(ErrorCode::kIo, "a").what(), "a");
  EXPECT_STREQ(Error(ErrorCode::kIo, "a", "", "b").what(), "a\n  try: b");
}

TEST(Error, ControlCharacters_AreEscaped) {
  const Error error(ErrorCode::kCorrupt, "name \"a\nb\x1b[2J\x7f\"", "1\n2\t");
  EXPECT_EQ(error.summary(), "name \"a\\x0ab\\x1b[2J\\x7f\"");
  EXPECT_EQ(error.numbers(), "1\n  2\\x09");
}

// Of files and arguments: what is said about them is text for every reader.
TEST(Error, AnyBytes_GiveTextWithoutControlCharacters) {
  constexpr uint64_t kSeed = 8;
  base::Random random(kSeed);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = "a";
    const uint64_t often = random.Below(4);
    for (uint64_t i = 0, n = random.Below(40); i < n; ++i)
      bytes += random.Below(4) < often ? static_cast<char>(random.Bits()) : "\xC2\xE2\x80\xF0\x9F\n"[random.Below(6)];
    const Error error(ErrorCode::kCorrupt, bytes, bytes, bytes);
    ASSERT_TRUE(base::IsUtf8(error.what())) << "seed " << kSeed << ", round " << round;
    ASSERT_EQ(error.summary().find('\n'), std::string::npos);
    for (std::string_view rest = error.what(); !rest.empty();) {
      const base::Character first = base::FirstCharacter(rest);
      ASSERT_TRUE(first.code == '\n' || (first.code >= 0x20 && (first.code < 0x7F || first.code >= 0xA0)));
      rest.remove_prefix(first.bytes);
    }
  }
  EXPECT_EQ(Error(ErrorCode::kIo, "a\xFF\xE2\x96\xC2\x85").summary(), "a\\xff\\xe2\\x96\\xc2\\x85");
}

TEST(Error, Utf8_StaysAsItIs) { EXPECT_EQ(Error(ErrorCode::kIo, "Größe 模型").summary(), "Größe 模型"); }

TEST(ErrorDeathTest, EmptySummary_IsABug) { EXPECT_DEATH(Error(ErrorCode::kIo, ""), "broken invariant"); }

TEST(CheckDeathTest, FailedCheck_PrintsConditionAndValues) {
  const int a = 3, b = 4;
  EXPECT_DEATH(EKVI_CHECK_OP(==, a, b), "error_test.cc.*a == b: 3 and 4");
  EXPECT_DEATH(EKVI_CHECK(a > b), "a > b");
}

TEST(Check, HoldingCheck_DoesNothing) {
  EKVI_CHECK(true);
  EKVI_CHECK_OP(<, 1, 2);
}

}  // namespace
}  // namespace ekvi
