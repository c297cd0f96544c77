// Goal: an append takes the fewest blocks that keep every row's tokens apart, and gives them back exactly. Method: all
// appends of three rows over a shared partial block are enumerated and compared with the rule stated in one line.
#include "cache/block_reservation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ekvi/cache_layout.h"

namespace ekvi::cache {
namespace {

constexpr int kBlockTokens = 16;
constexpr int kRows = 3;

// Rows of the given lengths (1 … 16 each) that all begin with the same block, the longest row's.
struct SharedBlock {
  explicit SharedBlock(std::array<int64_t, kRows> row_lengths, int64_t blocks = 8)
      : pool(blocks), lengths(row_lengths) {
    for (int row = 0; row < kRows; ++row) tables.emplace_back(&pool, storage[static_cast<size_t>(row)]);
    tables[0].Grow(1);
    for (size_t row = 1; row < kRows; ++row) tables[row].Fork(tables[0]);
  }
  RowGrowth Growth(const std::array<int64_t, kRows>& counts) { return {tables, lengths, counts, kBlockTokens}; }
  std::vector<std::vector<int32_t>> State() const {
    std::vector<std::vector<int32_t>> state{pool.FreeBlocks()};
    for (const BlockTable& table : tables) state.emplace_back(table.blocks().begin(), table.blocks().end());
    for (int32_t block = 0; block < pool.block_count(); ++block) state[0].push_back(pool.owners(block));
    return state;
  }

  BlockPool pool;
  std::array<std::array<int32_t, 8>, kRows> storage{};
  std::vector<BlockTable> tables;
  std::array<int64_t, kRows> lengths;
};

// Owners of the shared block who write into it must copy it, but for one if there are no other owners.
int64_t FewestCopies(const std::array<int64_t, kRows>& lengths, const std::array<int64_t, kRows>& counts) {
  int64_t writers = 0;
  for (size_t row = 0; row < kRows; ++row) writers += counts[row] > 0 && lengths[row] % kBlockTokens != 0 ? 1 : 0;
  return writers == kRows ? kRows - 1 : writers;
}

void ExpectFewestBlocksAndExactReturn(const std::array<int64_t, kRows>& lengths,
                                      const std::array<int64_t, kRows>& counts) {
  SharedBlock rows(lengths);
  BlockReservation reservation(kRows);
  const auto before = rows.State();
  const int64_t free = rows.pool.free_count();
  ASSERT_FALSE(reservation.Plan(rows.pool, rows.Growth(counts)).has_value());
  ASSERT_EQ(rows.State(), before) << "a plan has no effect";
  const std::span<const BlockCopy> copies = reservation.Take(rows.Growth(counts));
  int64_t grown = 0;
  for (size_t row = 0; row < kRows; ++row) grown += BlocksFor(lengths[row] + counts[row], kBlockTokens) - 1;
  EXPECT_EQ(static_cast<int64_t>(copies.size()), FewestCopies(lengths, counts));
  EXPECT_EQ(free - rows.pool.free_count(), FewestCopies(lengths, counts) + grown);
  for (size_t row = 0; row < kRows; ++row) {
    if (counts[row] == 0 || lengths[row] == kBlockTokens) continue;
    EXPECT_EQ(rows.pool.owners(rows.tables[row][0]), 1) << "row " << row << " writes into its first block";
    const bool kept = rows.tables[row][0] == before[1][0];
    EXPECT_TRUE(!kept || lengths[row] == *std::ranges::max_element(lengths)) << "a shorter row kept the original";
  }
  reservation.GiveBack(rows.tables);
  EXPECT_EQ(rows.State(), before);
}

TEST(BlockReservation, AllAppendsOfThreeRowsOverOneBlock_TakeTheFewestBlocks) {
  const std::array<int64_t, 3> lengths{3, 9, 16}, counts{0, 1, 20};
  for (int code = 0; code < 729; ++code) {
    SCOPED_TRACE(code);
    std::array<int64_t, kRows> l{}, c{};
    for (size_t row = 0, rest = static_cast<size_t>(code); row < kRows; ++row, rest /= 9) {
      l[row] = lengths[rest % 3];
      c[row] = counts[rest / 3 % 3];
    }
    ExpectFewestBlocksAndExactReturn(l, c);
  }
}

TEST(BlockReservation, Shortage_NamesTheFirstRowWithoutBlocksAndTheWholeNeed) {
  SharedBlock rows({5, 5, 5}, 3);
  BlockReservation reservation(kRows);
  const auto before = rows.State();
  const auto shortage = reservation.Plan(rows.pool, rows.Growth({1, 20, 1}));  // 1 copy + 2, 0 + 1 copy: 2 are free
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->row, 1);
  EXPECT_EQ(shortage->needed, 3);
  EXPECT_EQ(rows.State(), before);
  EXPECT_FALSE(reservation.Plan(rows.pool, rows.Growth({1, 1, 1})).has_value());
}

TEST(BlockReservation, NeedPast63Bits_IsAShortage) {
  SharedBlock rows({5, 5, 5});
  BlockReservation reservation(kRows);
  const auto shortage = reservation.Plan(rows.pool, rows.Growth({INT64_MAX - 5, INT64_MAX - 5, INT64_MAX - 5}));
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->row, 0);
  EXPECT_GT(shortage->needed, INT64_MAX / kBlockTokens);
}

}  // namespace
}  // namespace ekvi::cache
