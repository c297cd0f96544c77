// Goal: the pool hands out each block once, in the order of least recent use. Method: the documented order by hand,
// then random calls beside a plain list, comparing the whole free list after each.
#include "cache/block_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/random.h"

namespace ekvi::cache {
namespace {

TEST(BlockPool, Take_StartsAtBlock0AndReusesTheLongestFree) {
  BlockPool pool(3);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.Take(), 1);
  pool.Release(1);
  pool.Release(0);
  EXPECT_EQ(pool.FreeBlocks(), (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(pool.Take(), 2);
  EXPECT_EQ(pool.Take(), 1);
  EXPECT_EQ(pool.Take(), 0);
  EXPECT_EQ(pool.free_count(), 0);
}

TEST(BlockPool, SharedBlock_IsFreeAfterItsLastOwner) {
  BlockPool pool(1);
  const int32_t block = pool.Take();
  pool.Share(block);
  pool.Release(block);
  EXPECT_EQ(pool.owners(block), 1);
  EXPECT_EQ(pool.free_count(), 0);
  pool.Release(block);
  EXPECT_EQ(pool.owners(block), 0);
  EXPECT_EQ(pool.free_count(), 1);
}

TEST(BlockPool, PutBack_RestoresTheFreeListExactly) {
  for (int taken = 0; taken <= 4; ++taken) {
    BlockPool pool(4);
    pool.ShuffleFree(7);
    const std::vector<int32_t> before = pool.FreeBlocks();
    std::vector<int32_t> blocks;
    for (int i = 0; i < taken; ++i) blocks.push_back(pool.Take());
    for (; !blocks.empty(); blocks.pop_back()) pool.PutBack(blocks.back());
    EXPECT_EQ(pool.FreeBlocks(), before);
  }
}

TEST(BlockPool, ShuffleFree_IsAFunctionOfTheSeedAndLosesNothing) {
  BlockPool a(64), b(64), c(64);
  a.ShuffleFree(1);
  b.ShuffleFree(1);
  c.ShuffleFree(2);
  EXPECT_EQ(a.FreeBlocks(), b.FreeBlocks());
  EXPECT_NE(a.FreeBlocks(), c.FreeBlocks());
  std::vector<int32_t> sorted = a.FreeBlocks();
  std::ranges::sort(sorted);
  EXPECT_EQ(sorted, BlockPool(64).FreeBlocks());
}

TEST(BlockPool, EmptyPool_HasNothing) {
  BlockPool pool(0);
  pool.ShuffleFree(1);
  EXPECT_EQ(pool.free_count(), 0);
  EXPECT_TRUE(pool.FreeBlocks().empty());
}

TEST(BlockPoolDeathTest, Misuse_Aborts) {
  BlockPool pool(2);
  EXPECT_DEATH(pool.Release(0), "owners > 0");
  EXPECT_DEATH(pool.Share(0), "owners > 0");
  EXPECT_DEATH(pool.Share(2), "block_count");
  EXPECT_DEATH(pool.owners(-1), "block_count");
  pool.Take();
  pool.Take();
  EXPECT_DEATH(pool.Take(), "free_count_ > 0");
}

// The naive pool: a list of free blocks and a count for each block.
struct NaivePool {
  std::deque<int32_t> free;
  std::map<int32_t, int> owners;
};

void RandomCall(BlockPool& pool, NaivePool& naive, base::Random& random) {
  const bool take = naive.owners.empty() || (!naive.free.empty() && random.Below(2) == 0);
  if (take) {
    ASSERT_EQ(pool.Take(), naive.free.front());
    naive.owners[naive.free.front()] = 1;
    naive.free.pop_front();
    return;
  }
  auto it = naive.owners.begin();
  std::advance(it, static_cast<int64_t>(random.Below(naive.owners.size())));
  const int32_t block = it->first;
  switch (random.Below(3)) {
    case 0:
      pool.Share(block);
      ++it->second;
      return;
    case 1:
      if (it->second != 1) return;
      pool.PutBack(block);
      naive.free.push_front(block);
      naive.owners.erase(it);
      return;
    default:
      pool.Release(block);
      if (--it->second > 0) return;
      naive.free.push_back(block);
      naive.owners.erase(it);
  }
}

TEST(BlockPool, RandomCalls_AgreeWithAPlainList) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    base::Random random(seed);
    const auto count = static_cast<int64_t>(1 + random.Below(12));
    BlockPool pool(count);
    NaivePool naive;
    for (int32_t block = 0; block < count; ++block) naive.free.push_back(block);
    for (int call = 0; call < 300; ++call) {
      RandomCall(pool, naive, random);
      ASSERT_EQ(pool.FreeBlocks(), std::vector<int32_t>(naive.free.begin(), naive.free.end()));
      for (int32_t block = 0; block < count; ++block) {
        ASSERT_EQ(pool.owners(block), naive.owners.contains(block) ? naive.owners[block] : 0);
      }
    }
  }
}

}  // namespace
}  // namespace ekvi::cache
