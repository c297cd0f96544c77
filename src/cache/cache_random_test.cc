// Goal: contiguous and paged caches hold what was appended, whatever is done to them in whatever order. Method: the
// same random operations drive a cache and the twin of cache_twin.h; after each, every token of every row is compared
// and the invariants of docs/cache.md are checked. Seeds are printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <tuple>

#include "cache/cache_twin.h"
#include "ekvi/error.h"

namespace ekvi::testing {
namespace {

constexpr int kRows = 4;
constexpr int64_t kMaxLen = 83;  // no multiple of any block size
constexpr int kOperations = 250;

struct Types {
  DType k, v;
};

class RandomCache : public ::testing::TestWithParam<std::tuple<Storage, Types>> {
 protected:
  void Start(uint64_t seed) {
    const auto& [storage, types] = GetParam();
    random_ = base::Random(seed);
    cache_ = MakeCache(UnevenLayout(types.k, types.v), kRows, kMaxLen, storage);
    paged_ = dynamic_cast<PagedCache*>(cache_.get());
    twin_ = Twin(cache_->layout(), kRows);
    written_ = 0;
  }

  // The storage's bookkeeping as numbers: blocks of all rows, then the free list in order.
  std::vector<std::vector<int32_t>> Bookkeeping() const {
    std::vector<std::vector<int32_t>> state;
    if (paged_ == nullptr) return state;
    for (int row = 0; row < kRows; ++row) state.emplace_back(paged_->blocks(row).begin(), paged_->blocks(row).end());
    state.push_back(paged_->FreeBlocks());
    return state;
  }

  std::vector<int64_t> DrawCounts() {
    std::vector<int64_t> counts(kRows);
    for (int64_t& count : counts) count = random_.Below(3) == 0 ? 0 : static_cast<int64_t>(random_.Below(21));
    return counts;
  }

  bool PastMaxLen(const std::vector<int64_t>& counts) const {
    for (int row = 0; row < kRows; ++row) {
      if (twin_.length(row) + counts[static_cast<size_t>(row)] > kMaxLen) return true;
    }
    return false;
  }

  // Blocks that an append needs by the plain rule: those behind the end, and for each shared partial block one copy for
  // each row that writes into it, less one where all of its owners do.
  int64_t BlocksNeeded(const std::vector<int64_t>& counts) const {
    int64_t needed = 0;
    std::map<int32_t, int> writers;
    for (int row = 0; row < kRows; ++row) {
      const int64_t length = twin_.length(row), count = counts[static_cast<size_t>(row)];
      needed += BlocksFor(length + count, paged_->block_tokens()) - BlocksFor(length, paged_->block_tokens());
      if (count > 0 && length % paged_->block_tokens() != 0) ++writers[paged_->blocks(row).back()];
    }
    for (const auto& [block, count] : writers) needed += count < paged_->block_owners(block) ? count : count - 1;
    return needed;
  }

  void ExpectRefused(const std::vector<int64_t>& counts) {
    try {
      Append append = cache_->BeginAppend(counts);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCapacity);
    }
  }

  void Write(Append& append, int row, std::span<const Token> tokens) {
    if (random_.Below(2) == 0) {
      WriteTokens<float>(append, row, tokens);
    } else {
      WriteTokens<double>(append, row, tokens);
    }
    written_ += tokens.size() * BytesPerToken(cache_->layout());
  }

  // An append that is committed, dropped halfway, or refused when there is no room.
  void RandomAppend() {
    const std::vector<int64_t> counts = DrawCounts();
    const auto before = Bookkeeping();
    if (PastMaxLen(counts) || (paged_ != nullptr && BlocksNeeded(counts) > paged_->free_blocks())) {
      ExpectRefused(counts);
      ASSERT_EQ(Bookkeeping(), before);
      ++refused_;
      return;
    }
    const bool commit = random_.Below(3) != 0;
    {
      Append append = cache_->BeginAppend(counts);
      if (paged_ != nullptr) paged_->CheckInvariants();
      for (int row = 0; row < kRows; ++row) {
        ASSERT_EQ(append.past(row), twin_.length(row));
        const std::vector<Token> tokens = DrawTokens(cache_->layout(), append.count(row), random_);
        if (commit || random_.Below(2) == 0) Write(append, row, tokens);
        if (commit) pending_[static_cast<size_t>(row)] = tokens;
      }
      twin_.ExpectEqual(*cache_);  // nothing is visible yet
      if (commit) append.Commit();
    }
    if (!commit) {
      ASSERT_EQ(Bookkeeping(), before);
      ++dropped_;
      return;
    }
    for (int row = 0; row < kRows; ++row) twin_.Append(row, pending_[static_cast<size_t>(row)]);
  }

  void RandomTruncate() {
    const int row = RandomRow();
    const auto length = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(twin_.length(row)) + 1));
    cache_->Truncate(row, length);
    twin_.Truncate(row, length);
  }

  void RandomReset() {
    const int row = RandomRow();
    cache_->Reset(row);
    twin_.Truncate(row, 0);
  }

  void RandomFork() {
    const int from = RandomRow(), to = RandomRow();
    cache_->Fork(from, to);
    twin_.Fork(from, to);
  }

  void RandomPermute() {
    std::vector<int> source(kRows);
    for (int& row : source) row = RandomRow();
    cache_->Permute(source);
    twin_.Permute(source);
  }

  void RandomOperation() {
    switch (random_.Below(12)) {
      case 0:
        return RandomTruncate();
      case 1:
        return RandomReset();
      case 2:
      case 3:
        return RandomFork();
      case 4:
        return RandomPermute();
      case 5:
        return paged_ != nullptr ? paged_->ShuffleFreeBlocks(random_.Bits()) : void();
      case 6:
        return PoisonSpareSlotsIfOwned(RandomRow());
      default:
        return RandomAppend();
    }
  }

  // Spare slots of a shared block may be live for its other owners.
  void PoisonSpareSlotsIfOwned(int row) {
    if (paged_ != nullptr && (paged_->blocks(row).empty() || paged_->block_owners(paged_->blocks(row).back()) > 1))
      return;
    PoisonSpareSlots(*cache_, row);
  }

  int RandomRow() { return static_cast<int>(random_.Below(kRows)); }

  base::Random random_{0};
  std::unique_ptr<KvCache> cache_;
  PagedCache* paged_ = nullptr;
  Twin twin_{{}, 0};
  std::vector<std::vector<Token>> pending_{kRows};
  uint64_t written_ = 0;
  int refused_ = 0, dropped_ = 0;
};

TEST_P(RandomCache, AnyOperations_AgreeWithTheTwin) {
  for (const uint64_t seed : {101, 202}) {
    std::cout << "seed " << seed << "\n";
    Start(seed);
    for (int operation = 0; operation < kOperations; ++operation) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", operation " << operation);
      RandomOperation();
      twin_.ExpectEqual(*cache_);
      if (paged_ != nullptr) paged_->CheckInvariants();
      ASSERT_EQ(cache_->bytes_written(), written_);
      if (HasFailure()) return;
    }
    for (int row = 0; row < kRows; ++row) cache_->Reset(row);
    const int64_t blocks = std::get<Storage>(GetParam()).block_count;
    ASSERT_EQ(paged_ != nullptr ? paged_->free_blocks() : 0, blocks);
  }
  EXPECT_GT(refused_, 0);
  EXPECT_GT(dropped_, 0);
}

std::string Name(const ::testing::TestParamInfo<RandomCache::ParamType>& info) {
  const auto& [storage, types] = info.param;
  const std::string kind = storage.block_tokens == 0 ? "Contiguous" : "Paged" + std::to_string(storage.block_tokens);
  return kind + "_" + std::string(DTypeName(types.k)) + "_" + std::string(DTypeName(types.v));
}

INSTANTIATE_TEST_SUITE_P(
    Storages, RandomCache,
    ::testing::Combine(::testing::Values(Storage{}, Storage{16, 13}, Storage{32, 7}, Storage{64, 5}),
                       ::testing::Values(Types{DType::kF64, DType::kF64}, Types{DType::kF32, DType::kF32},
                                         Types{DType::kF16, DType::kF16}, Types{DType::kBF16, DType::kBF16},
                                         Types{DType::kF16, DType::kF64})),
    Name);

}  // namespace
}  // namespace ekvi::testing
