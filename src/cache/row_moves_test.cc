// Goal: a plan of copies and swaps gives every row what its source was. Method: all 1 + 1 + 4 + 27 + 256 + 3,125 maps
// of up to five rows are enumerated and carried out on numbers.
#include "cache/row_moves.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

namespace ekvi::cache {
namespace {

std::vector<int> CarriedOut(RowMoves& moves, const std::vector<int>& source) {
  std::vector<int> rows(source.size());
  std::iota(rows.begin(), rows.end(), 0);
  const std::span<const RowMove> plan = moves.Plan(source);
  EXPECT_LE(plan.size(), source.size());
  for (const RowMove& move : plan) {
    EXPECT_NE(move.from, move.to);
    int& from = rows[static_cast<size_t>(move.from)];
    int& to = rows[static_cast<size_t>(move.to)];
    if (move.kind == RowMove::Kind::kCopy) {
      to = from;
    } else {
      std::swap(from, to);
    }
  }
  return rows;
}

TEST(RowMoves, EveryMapOfUpToFiveRows_IsCarriedOut) {
  for (size_t rows = 0; rows <= 5; ++rows) {
    RowMoves moves(static_cast<int>(rows));
    size_t maps = 1;
    for (size_t i = 0; i < rows; ++i) maps *= rows;
    for (size_t map = 0; map < maps; ++map) {
      std::vector<int> source(rows);
      size_t rest = map;
      for (int& row : source) {
        row = static_cast<int>(rest % rows);
        rest /= rows;
      }
      ASSERT_EQ(CarriedOut(moves, source), source);
    }
  }
}

TEST(RowMoves, Identity_MovesNothing) {
  RowMoves moves(3);
  EXPECT_TRUE(moves.Plan(std::vector<int>{0, 1, 2}).empty());
}

TEST(RowMoves, CycleOfThree_IsTwoSwaps) {
  RowMoves moves(3);
  EXPECT_EQ(moves.Plan(std::vector<int>{1, 2, 0}).size(), 2u);
}

}  // namespace
}  // namespace ekvi::cache
