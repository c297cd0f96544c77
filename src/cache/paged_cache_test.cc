// Goal: rows share blocks until they write, and no block is lost or given twice, whatever is dropped or refused.
// Method: owner counts, block tables and free lists are compared by hand around each operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "cache/cache_twin.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"

namespace ekvi::testing {
namespace {

using Blocks = std::vector<int32_t>;

class Paged : public ::testing::Test {
 protected:
  PagedCache Make(int rows, int64_t blocks) const {
    return PagedCache(layout_, {.rows = rows, .max_len = 100, .block_tokens = 16, .block_count = blocks});
  }
  std::vector<Token> Draw(int64_t count) { return DrawTokens(layout_, count, random_); }
  size_t KeyBytesPerToken() const {
    size_t bytes = 0;
    for (const LayerShape& layer : layout_.layers) bytes += static_cast<size_t>(layer.kv_heads * layer.head_dim_k) * 2;
    return bytes;
  }
  static Blocks Named(const PagedCache& cache, int row) { return {cache.blocks(row).begin(), cache.blocks(row).end()}; }
  static int64_t Held(const PagedCache& cache) {
    Blocks held;
    for (int row = 0; row < cache.rows(); ++row)
      held.insert(held.end(), cache.blocks(row).begin(), cache.blocks(row).end());
    std::ranges::sort(held);
    return std::ranges::unique(held).begin() - held.begin();
  }

  const CacheLayout layout_ = UnevenLayout(DType::kBF16, DType::kF16);
  base::Random random_{6};
};

TEST_F(Paged, AppendThenFork_SharesBlocksUntilWrite) {
  PagedCache cache = Make(2, 8);
  AppendTokens(cache, 0, Draw(40));
  cache.Fork(0, 1);
  EXPECT_EQ(Named(cache, 1), (Blocks{0, 1, 2}));
  EXPECT_EQ(cache.bytes_copied(), 0u);
  EXPECT_EQ(cache.free_blocks(), 5);
  AppendTokens(cache, 1, Draw(1));
  EXPECT_EQ(Named(cache, 0), (Blocks{0, 1, 2}));
  EXPECT_EQ(Named(cache, 1), (Blocks{0, 1, 3})) << "only the partial block was copied";
  EXPECT_EQ(cache.bytes_copied(), 8 * BytesPerToken(layout_) + 8 * KeyBytesPerToken())
      << "8 tokens, keys as a whole tile";
  const uint64_t copied = cache.bytes_copied();
  AppendTokens(cache, 0, Draw(1));
  EXPECT_EQ(cache.bytes_copied(), copied) << "the last owner writes in place";
}

TEST_F(Paged, ForkOfFullBlocks_NeverCopies) {
  PagedCache cache = Make(2, 8);
  AppendTokens(cache, 0, Draw(32));
  cache.Fork(0, 1);
  AppendTokens(cache, 0, Draw(3));
  AppendTokens(cache, 1, Draw(3));
  EXPECT_EQ(cache.bytes_copied(), 0u);
  EXPECT_EQ(Named(cache, 1), (Blocks{0, 1, 3}));
}

TEST_F(Paged, Truncate_FreesWholeBlocksBehindTheEnd) {
  PagedCache cache = Make(1, 8);
  AppendTokens(cache, 0, Draw(70));
  EXPECT_EQ(cache.free_blocks(), 3);
  cache.Truncate(0, 33);
  EXPECT_EQ(Named(cache, 0), (Blocks{0, 1, 2}));
  cache.Truncate(0, 32);
  EXPECT_EQ(Named(cache, 0), (Blocks{0, 1}));
  cache.Reset(0);
  EXPECT_EQ(cache.free_blocks(), 8);
}

// A fork cut shorter than its origin must not write over what the origin still sees, even when both append at once and
// the append is dropped.
TEST_F(Paged, TruncatedForkAndOrigin_AppendTogetherAndDrop_KeepBothRows) {
  PagedCache cache = Make(2, 8);
  Twin twin(layout_, 2);
  const std::vector<Token> tokens = Draw(14);
  AppendTokens(cache, 0, tokens);
  twin.Append(0, tokens);
  for (const auto& [from, to] : {std::pair(0, 1), std::pair(1, 0)}) {
    cache.Fork(from, to);
    twin.Fork(from, to);
    cache.Truncate(to, 9);
    twin.Truncate(to, 9);
    {
      Append append = cache.BeginAppend(std::array<int64_t, 2>{4, 4});
      cache.CheckInvariants();
      for (const int row : {0, 1}) WriteTokens<float>(append, row, Draw(4));
      twin.ExpectEqual(cache);
    }
    twin.ExpectEqual(cache);
    cache.CheckInvariants();
  }
}

TEST_F(Paged, NoFreeBlock_IsRefusedNamingRowNeedAndRest) {
  PagedCache cache = Make(3, 3);
  AppendTokens(cache, 0, Draw(20));
  cache.Fork(0, 1);
  try {
    const Append append = cache.BeginAppend(std::array<int64_t, 3>{1, 0, 17});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCapacity);
    EXPECT_EQ(error.summary(), "no free block for row 2: 3 needed, 1 free");
    EXPECT_EQ(error.numbers(), "length 0 + count 17, 3 blocks of 16 tokens in all");
  }
  EXPECT_EQ(cache.free_blocks(), 1);
  EXPECT_EQ(Named(cache, 0), Named(cache, 1));
  cache.CheckInvariants();
}

TEST_F(Paged, ShuffledBlocks_GiveTheSameTokens) {
  PagedCache cache = Make(2, 16);
  Twin twin(layout_, 2);
  cache.ShuffleFreeBlocks(9);
  for (int step = 0; step < 8; ++step) {
    for (const int row : {0, 1}) {
      const std::vector<Token> tokens = Draw(11);
      AppendTokens(cache, row, tokens);
      twin.Append(row, tokens);
    }
  }
  EXPECT_FALSE(std::ranges::is_sorted(cache.blocks(0)));
  twin.ExpectEqual(cache);
}

TEST_F(Paged, BlocksThatDoNotExist_AreNamed) {
  const PagedCache cache = Make(1, 4);
  EXPECT_THROW(cache.block_owners(4), Error);
  EXPECT_THROW(cache.block_owners(-1), Error);
  EXPECT_THROW(cache.blocks(1), Error);
  EXPECT_EQ(cache.block_owners(3), 0);
}

TEST_F(Paged, ShapesThatCannotBe_AreRefused) {
  const auto make = [&](PagedShape shape) { return [this, shape] { PagedCache cache(layout_, shape); }; };
  EXPECT_THROW(make({.rows = -1})(), Error);
  EXPECT_THROW(make({.rows = 1, .max_len = -1})(), Error);
  EXPECT_THROW(make({.rows = 1, .max_len = 1, .block_tokens = 40, .block_count = 1})(), Error);
  EXPECT_THROW(make({.rows = 1, .max_len = 1, .block_tokens = 16, .block_count = kMaxCacheBlocks + 1})(), Error);
  EXPECT_THROW(ContiguousCache(layout_, {.rows = -1, .max_len = 1}), Error);
  EXPECT_THROW(ContiguousCache(layout_, {.rows = 1, .max_len = INT64_MAX}), Error);
  EXPECT_THROW(ContiguousCache({}, {.rows = 1, .max_len = 1}), Error);
}

// Prefill once, fork to n rows by reference, copy on first write.
TEST_F(Paged, BR_31_ForkToN_CountsNThenOne) {
  constexpr int kRows = 5;
  PagedCache cache = Make(kRows, 24);
  Twin twin(layout_, kRows);
  const std::vector<Token> prompt = Draw(37);
  AppendTokens(cache, 0, prompt);
  for (int row = 0; row < kRows; ++row) twin.Append(row, prompt);
  for (int row = 1; row < kRows; ++row) cache.Fork(0, row);
  for (const int32_t block : cache.blocks(0)) EXPECT_EQ(cache.block_owners(block), kRows);
  twin.ExpectEqual(cache);

  const int32_t partial = cache.blocks(0)[2];
  for (int row = 0; row < kRows; ++row) {
    const std::vector<Token> tokens = Draw(2);
    AppendTokens(cache, row, tokens);
    twin.Append(row, tokens);
    EXPECT_EQ(cache.block_owners(partial), std::max(1, kRows - 1 - row));
  }
  twin.ExpectEqual(cache);
  EXPECT_EQ(cache.block_owners(cache.blocks(0)[0]), kRows) << "full blocks stay shared";
  for (int row = 1; row < kRows; ++row) cache.Reset(row);
  for (const int32_t block : cache.blocks(0)) EXPECT_EQ(cache.block_owners(block), 1);
  cache.Reset(0);
  EXPECT_EQ(cache.free_blocks(), 24);
}

// Block 16, chunks coprime to it, a prefix of which a part is shared; the append in flight is dropped at every token.
TEST_F(Paged, BR_43_AppendDroppedAtEveryToken_LosesNoBlock) {
  for (const int64_t chunk : {3, 7, 9, 11, 13}) {
    for (int64_t abort_at = 0; abort_at <= 40; ++abort_at) {
      PagedCache cache = Make(2, 9);
      Twin twin(layout_, 2);
      const std::vector<Token> prefix = Draw(20);
      AppendTokens(cache, 0, prefix);
      twin.Append(0, prefix);
      cache.Fork(0, 1);
      for (int64_t done = 0; done < abort_at;) {
        const int64_t count = std::min(chunk, abort_at - done);
        Append append = BeginRow(cache, 1, chunk);
        ASSERT_EQ(cache.free_blocks() + Held(cache), 9);
        cache.CheckInvariants();
        WriteTokens<float>(append, 1, Draw(chunk));
        if (count == chunk) append.Commit();
        done += count;
      }
      cache.CheckInvariants();
      ASSERT_EQ(cache.length(1), 20 + abort_at / chunk * chunk);
      ASSERT_EQ(cache.free_blocks() + Held(cache), 9);
      cache.Reset(1);
      twin.ExpectEqual(cache);
      ASSERT_EQ(cache.free_blocks(), 7);
      for (const int32_t block : cache.blocks(0)) ASSERT_EQ(cache.block_owners(block), 1);
    }
  }
}

}  // namespace
}  // namespace ekvi::testing
