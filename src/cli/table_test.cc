// Goal: columns stand under each other and no line ends in blanks. Method: small tables against the text they must
// give.
#include "cli/table.h"

#include <gtest/gtest.h>

namespace ekvi::cli {
namespace {

TEST(Table, Columns_AreAlignedByCharacters) {
  Table table;
  table.Add({"path", "compared", "result"});
  table.Add({"chunks of 1…97", "512 × 512", "identical bits"});
  EXPECT_EQ(table.Render(),
            "path            compared   result\n"
            "chunks of 1…97  512 × 512  identical bits\n");
}

TEST(Table, RightColumns_EndTogether) {
  Table table({Align::kRight, Align::kLeft});
  table.Add({"7", "a"});
  table.Add({"1024", "b"});
  EXPECT_EQ(table.Render("  "), "     7  a\n  1024  b\n");
}

TEST(Table, Lines_DoNotEndInBlanks) {
  Table table;
  table.Add({"a", "", ""});
  table.Add({"long cell", "x"});
  EXPECT_EQ(table.Render(), "a\nlong cell  x\n");
}

TEST(Table, NoRows_GiveNoText) { EXPECT_EQ(Table().Render(), ""); }

}  // namespace
}  // namespace ekvi::cli
