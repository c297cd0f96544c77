// Goal: a table owns what it names, shares by counting, and orders a copy exactly where a block has another owner.
// Method: two or three tables over one small pool, counts and free lists written out.
#include "cache/block_table.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace ekvi::cache {
namespace {

using Blocks = std::vector<int32_t>;

Blocks Named(const BlockTable& table) { return {table.blocks().begin(), table.blocks().end()}; }

struct TwoTables {
  BlockPool pool{6};
  std::array<int32_t, 6> storage_a{}, storage_b{};
  BlockTable a{&pool, storage_a}, b{&pool, storage_b};
};

TEST(BlockTable, Grow_TakesBlocksInOrder) {
  TwoTables t;
  t.a.Grow(2);
  t.b.Grow(1);
  t.a.Grow(1);
  EXPECT_EQ(Named(t.a), (Blocks{0, 1, 3}));
  EXPECT_EQ(Named(t.b), (Blocks{2}));
  EXPECT_EQ(t.pool.free_count(), 2);
}

TEST(BlockTable, Shrink_FreesTheEndFirst) {
  TwoTables t;
  t.a.Grow(4);
  t.a.Shrink(1);
  EXPECT_EQ(Named(t.a), (Blocks{0}));
  EXPECT_EQ(t.pool.FreeBlocks(), (Blocks{4, 5, 3, 2, 1}));
}

TEST(BlockTable, Fork_RaisesCountsAndDropsItsOwn) {
  TwoTables t;
  t.a.Grow(3);
  t.b.Grow(2);
  t.b.Fork(t.a);
  EXPECT_EQ(Named(t.b), (Blocks{0, 1, 2}));
  for (const int32_t block : {0, 1, 2}) EXPECT_EQ(t.pool.owners(block), 2);
  EXPECT_EQ(t.pool.FreeBlocks(), (Blocks{5, 4, 3}));
  t.a.Fork(t.a);
  EXPECT_EQ(Named(t.a), (Blocks{0, 1, 2}));
  EXPECT_EQ(t.pool.owners(0), 2);
}

TEST(BlockTable, ForkOfAForkWithACommonPrefix_KeepsThePrefixOwned) {
  TwoTables t;
  t.a.Grow(2);
  t.b.Fork(t.a);
  t.a.Grow(1);
  t.b.Fork(t.a);
  EXPECT_EQ(Named(t.b), (Blocks{0, 1, 2}));
  for (const int32_t block : {0, 1, 2}) EXPECT_EQ(t.pool.owners(block), 2);
}

TEST(BlockTable, MakeWritable_OrdersACopyOnlyWhereShared) {
  TwoTables t;
  t.a.Grow(2);
  EXPECT_FALSE(t.a.MakeWritable(1).has_value());
  t.b.Fork(t.a);
  const std::optional<CopyOrder> order = t.b.MakeWritable(1);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->from, 1);
  EXPECT_EQ(order->to, 2);
  EXPECT_EQ(Named(t.a), (Blocks{0, 1}));
  EXPECT_EQ(Named(t.b), (Blocks{0, 2}));
  EXPECT_EQ(t.pool.owners(0), 2);
  EXPECT_EQ(t.pool.owners(1), 1);
  EXPECT_EQ(t.pool.owners(2), 1);
  EXPECT_FALSE(t.a.MakeWritable(1).has_value()) << "its last owner writes in place";
}

TEST(BlockTable, Undo_RestoresTableCountsAndFreeList) {
  TwoTables t;
  t.pool.ShuffleFree(3);
  t.a.Grow(2);
  t.b.Fork(t.a);
  const Blocks named = Named(t.b), free = t.pool.FreeBlocks();
  const std::optional<CopyOrder> order = t.b.MakeWritable(1);
  ASSERT_TRUE(order.has_value());
  t.b.Grow(2);
  t.b.UndoGrow(2);
  t.b.UndoMakeWritable(1, order->from);
  EXPECT_EQ(Named(t.b), named);
  EXPECT_EQ(t.pool.FreeBlocks(), free);
  for (const int32_t block : named) EXPECT_EQ(t.pool.owners(block), 2);
}

TEST(BlockTable, Swap_ExchangesBlocks) {
  TwoTables t;
  t.a.Grow(2);
  t.b.Grow(1);
  std::swap(t.a, t.b);
  EXPECT_EQ(Named(t.a), (Blocks{2}));
  EXPECT_EQ(Named(t.b), (Blocks{0, 1}));
  t.a.Grow(1);
  EXPECT_EQ(Named(t.a), (Blocks{2, 3}));
}

}  // namespace
}  // namespace ekvi::cache
