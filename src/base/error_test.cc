// Goal: an error reads as three parts and no input can break its form. Method: fixed texts, control characters
// included.
#include "ekvi/error.h"

#include <gtest/gtest.h>

#include <string>

#include "base/check.h"

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
