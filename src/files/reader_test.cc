// Goal: what the readers share, quoting and name tables, holds for any bytes. Method: examples at the edges, and a name
// table against a linear search over random names.
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"
#include "files/reader_error.h"
#include "files/reader_names.h"

namespace ekvi::files {
namespace {

TEST(Quote, OddBytes_AreEscapedAndLongOnesCut) {
  EXPECT_EQ(Quote("blk.0"), "'blk.0'");
  EXPECT_EQ(Quote("a\nb\x1b\x7f"), "'a\\x0ab\\x1b\\x7f'");
  EXPECT_EQ(Quote("caf\u00e9 \u2581"), "'caf\u00e9 \u2581'");
  EXPECT_EQ(Quote("\xFF\xE2\x96"), "'\\xff\\xe2\\x96'");
  EXPECT_EQ(Quote("\xC2\x85"), "'\\xc2\\x85'");
  EXPECT_EQ(Quote(std::string_view("\0", 1)), "'\\x00'");
  EXPECT_EQ(Quote(std::string(80, 'x')), "'" + std::string(80, 'x') + "'");
  EXPECT_EQ(Quote(std::string(81, 'x')), "'" + std::string(80, 'x') + "…'");
  EXPECT_EQ(Quote(std::string(79, 'x') + "\u2581y"), "'" + std::string(79, 'x') + "\u2581…'");
}

TEST(Quote, AnyBytes_GivePrintableText) {
  base::Random random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (uint64_t i = 0, n = random.Below(100); i < n; ++i) bytes += static_cast<char>(random.Bits());
    const std::string text = Quote(bytes);
    EXPECT_TRUE(base::IsUtf8(text));
    for (const char c : text) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  }
}

TEST(Digits, AreGroupedByThree) {
  EXPECT_EQ(Digits(0), "0");
  EXPECT_EQ(Digits(999), "999");
  EXPECT_EQ(Digits(1000), "1,000");
  EXPECT_EQ(Digits(97'517'568), "97,517,568");
  EXPECT_EQ(Digits(~uint64_t{0}), "18,446,744,073,709,551,615");
}

TEST(ReaderNames, RandomNames_AgreeWithALinearSearch) {
  base::Random random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> names;
    for (uint64_t i = 0, n = random.Below(20); i < n; ++i)
      names.push_back(std::string(1 + random.Below(2), 'a' + random.Below(6)));
    const ReaderNames table({names.begin(), names.end()});
    std::optional<uint32_t> duplicate;
    for (uint32_t i = 0; i < names.size() && !duplicate; ++i) {
      if (std::find(names.begin(), names.begin() + i, names[i]) != names.begin() + i) duplicate = i;
    }
    EXPECT_EQ(table.Duplicate(), duplicate);
    for (uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(names[*table.Find(names[i])], names[i]);
    EXPECT_EQ(table.Find("absent"), std::nullopt);
  }
}

}  // namespace
}  // namespace ekvi::files
