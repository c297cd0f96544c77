// Goal: each fault that lives in the cache breaks what its description says, is seen by a reader, and breaks no memory.
// Method: the same calls with and without the fault; the invariants hold in both, and the sanitizers watch.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/fault.h"
#include "cache/cache_twin.h"
#include "ekvi/cache.h"

namespace ekvi::testing {
namespace {

using base::Fault;
using base::ScopedFault;

class CacheFault : public ::testing::Test {
 protected:
  PagedCache Paged(int rows, int64_t blocks) const {
    return PagedCache(layout_, {.rows = rows, .max_len = 100, .block_tokens = 16, .block_count = blocks});
  }
  std::vector<Token> Draw(int64_t count) { return DrawTokens(layout_, count, random_); }
  std::vector<Token> AllStored(const std::vector<Token>& tokens) const {
    std::vector<Token> stored;
    for (const Token& token : tokens) stored.push_back(Stored(layout_, token));
    return stored;
  }

  const CacheLayout layout_ = UnevenLayout(DType::kF32, DType::kF32);
  base::Random random_{12};
};

TEST_F(CacheFault, StaleBlock_ReadsTheFirstBlockForTheLastFullOne) {
  PagedCache cache = Paged(1, 4);
  const std::vector<Token> stored = AllStored(Draw(40));
  AppendTokens(cache, 0, stored);
  const ScopedFault fault(Fault::kStaleBlock);
  for (int64_t pos = 0; pos < 40; ++pos) {
    const int64_t seen = 16 <= pos && pos < 32 ? pos - 16 : pos;
    EXPECT_EQ(ReadToken(cache, 0, pos), stored[static_cast<size_t>(seen)]) << pos;
  }
  std::array<const std::byte*, 3> k{}, v{};
  cache.Tiles(2, 0, 0, k, v);
  EXPECT_EQ(k[0], k[1]);
  EXPECT_NE(k[1], k[2]);
}

TEST_F(CacheFault, StaleBlock_SparesASingleFullBlock) {
  PagedCache cache = Paged(1, 4);
  const std::vector<Token> tokens = Draw(20);
  AppendTokens(cache, 0, tokens);
  const ScopedFault fault(Fault::kStaleBlock);
  EXPECT_EQ(ReadRow(cache, 0), AllStored(tokens));
}

// The arena is as small as can be and used up to its end: the swapped read must stay inside it.
TEST_F(CacheFault, SwappedHeads_ReadOtherHeadsFromTheSecondBlockOn) {
  for (const uint64_t order : {1, 2, 3, 4}) {
    PagedCache cache = Paged(1, 3);
    cache.ShuffleFreeBlocks(order);
    const std::vector<Token> stored = AllStored(Draw(48));
    AppendTokens(cache, 0, stored);
    const ScopedFault fault(Fault::kSwappedHeads);
    const std::vector<Token> seen = ReadRow(cache, 0);
    for (size_t pos = 0; pos < 48; ++pos) EXPECT_EQ(seen[pos] == stored[pos], pos < 16) << pos;
    // Layer 0, head 0 of token 20 is what head 1 really holds: k[2 heads, 1], v[2 heads, 3].
    EXPECT_EQ(seen[20][0], stored[20][1]);
    EXPECT_EQ(seen[20][2], stored[20][5]);
  }
}

TEST_F(CacheFault, SharedWrite_OverwritesTheOtherOwner) {
  PagedCache cache = Paged(2, 4);
  const std::vector<Token> tokens = Draw(24);
  AppendTokens(cache, 0, {tokens.data(), 20});
  cache.Fork(0, 1);
  const ScopedFault fault(Fault::kSharedWrite);
  AppendTokens(cache, 0, {tokens.data() + 20, 4});
  AppendTokens(cache, 1, Draw(4));
  EXPECT_NE(ReadRow(cache, 0), AllStored(tokens));
  EXPECT_EQ(cache.bytes_copied(), 0u);
  cache.CheckInvariants();
  cache.Reset(0);
  cache.Reset(1);
  EXPECT_EQ(cache.free_blocks(), 4);
}

TEST_F(CacheFault, LostCommit_LeavesTheLastLayersKeysOfASingleToken) {
  for (const Storage& storage : {Storage{}, Storage{16, 4}}) {
    const auto cache = MakeCache(layout_, 1, 50, storage);
    const std::vector<Token> stored = AllStored(Draw(3));
    const ScopedFault fault(Fault::kLostCommit);
    AppendTokens(*cache, 0, {stored.data(), 2});
    AppendTokens(*cache, 0, {stored.data() + 2, 1});
    EXPECT_EQ(ReadToken(*cache, 0, 0), stored[0]);
    EXPECT_EQ(ReadToken(*cache, 0, 1), stored[1]);
    const size_t last_keys = TokenValues(layout_) - 3 * (3 + 1);
    const Token seen = ReadToken(*cache, 0, 2);
    for (size_t i = 0; i < seen.size(); ++i) {
      const bool lost = last_keys <= i && i < last_keys + 3 * 3;
      EXPECT_EQ(seen[i], lost ? 0 : stored[2][i]) << i;
    }
  }
}

TEST_F(CacheFault, TruncateTooLittle_LeavesOneToken) {
  for (const Storage& storage : {Storage{}, Storage{16, 4}}) {
    const auto cache = MakeCache(layout_, 1, 50, storage);
    AppendTokens(*cache, 0, Draw(33));
    const ScopedFault fault(Fault::kTruncateTooLittle);
    cache->Truncate(0, 33);
    EXPECT_EQ(cache->length(0), 33);
    cache->Truncate(0, 16);
    EXPECT_EQ(cache->length(0), 17);
    if (const auto* paged = dynamic_cast<const PagedCache*>(cache.get())) paged->CheckInvariants();
    cache->Reset(0);
    EXPECT_EQ(cache->length(0), 1);
  }
}

}  // namespace
}  // namespace ekvi::testing
