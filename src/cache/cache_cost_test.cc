// Goal: a cache costs what its planner says: bytes, writes, copies, allocations, and no 32-bit number on the way.
// Method: counters of the cache, a counting operator new, views and tiles compared with addresses, arenas beyond 4 Gi
// elements.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <new>

#include "cache/cache_twin.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"
#include "numeric/convert.h"

namespace {
std::atomic<int64_t> allocation_count{0};
}  // namespace

// Not inlined: the compiler would see malloc and free where it expects the operators, and warn of a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocation_count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace ekvi::testing {
namespace {

std::vector<Token> Draw(const CacheLayout& layout, int64_t count) {
  base::Random random(8);
  return DrawTokens(layout, count, random);
}

TEST(CacheCost, BytesOfEveryShape_AreThePlannersBytes) {
  for (const CacheLayout& layout : {UnevenLayout(DType::kF16, DType::kF64), UnevenLayout(DType::kF64, DType::kBF16),
                                    CacheLayout::Uniform(5, {4, 8, 8}, DType::kF32)}) {
    for (const int rows : {0, 1, 3}) {
      for (const int64_t max_len : {0, 1, 16, 83}) {
        const ContiguousShape contiguous{.rows = rows, .max_len = max_len};
        EXPECT_EQ(ContiguousCache(layout, contiguous).bytes(), ContiguousBytes(layout, contiguous));
        for (const int block_tokens : {16, 32, 64}) {
          const PagedShape paged{.rows = rows, .max_len = max_len, .block_tokens = block_tokens, .block_count = 5};
          EXPECT_EQ(PagedCache(layout, paged).bytes(), PagedBytes(layout, paged));
        }
      }
    }
  }
}

TEST(BR_27, HeadSizesOfRealModels_AllocateThePlannersBytes) {
  for (const int head_dim : {64, 80, 96, 112, 128, 256}) {
    const CacheLayout layout = CacheLayout::Uniform(2, {2, head_dim, head_dim}, DType::kBF16);
    const PagedCache paged(layout, {.rows = 1, .max_len = 64, .block_tokens = 32, .block_count = 2});
    EXPECT_EQ(paged.bytes(), 64 * BytesPerToken(layout));
    EXPECT_EQ(ContiguousCache(layout, {.rows = 1, .max_len = 64}).bytes(), 64 * BytesPerToken(layout));
  }
}

TEST(BR_57, FullLengthStorageOfGptOss_AllocatesThePlannersBytes) {
  const CacheLayout layout = CacheLayout::Uniform(36, {8, 64, 64}, DType::kBF16);
  for (const int64_t length : {1, 128, 129, 2'000}) {
    EXPECT_EQ(ContiguousCache(layout, {.rows = 1, .max_len = length}).bytes(), 73'728u * static_cast<size_t>(length));
    const PagedShape paged{.rows = 1, .max_len = length, .block_tokens = 32, .block_count = BlocksFor(length, 32)};
    EXPECT_EQ(PagedCache(layout, paged).bytes(), 73'728u * 32 * static_cast<size_t>(BlocksFor(length, 32)));
  }
}

TEST(ContiguousCache, Views_AliasTheArena) {
  const CacheLayout layout = UnevenLayout(DType::kBF16, DType::kF64);
  ContiguousCache cache(layout, {.rows = 2, .max_len = 19});
  const std::vector<Token> tokens = Draw(layout, 19);
  AppendTokens(cache, 1, tokens);
  const ContiguousCache::View k = cache.k(3), v = cache.v(3);  // 3 heads, keys of 3, values of 1
  EXPECT_EQ(k.dtype, DType::kBF16);
  EXPECT_EQ(v.dtype, DType::kF64);
  EXPECT_EQ(k.pos_stride, 3);
  EXPECT_EQ(k.head_stride, 19 * 3);
  EXPECT_EQ(k.row_stride, 3 * 19 * 3);
  std::array<double, 3> key{};
  std::array<double, 1> value{};
  const auto* keys = static_cast<const numeric::BF16*>(k.data);
  auto* values = static_cast<double*>(const_cast<void*>(v.data));
  for (int64_t pos = 0; pos < 19; ++pos) {
    for (int head = 0; head < 3; ++head) {
      cache.Read(3, 1, pos, head, key, value);
      for (int d = 0; d < 3; ++d) {
        EXPECT_EQ(numeric::ToF32(keys[k.row_stride + head * k.head_stride + pos * k.pos_stride + d]),
                  key[static_cast<size_t>(d)]);
      }
      double& seen = values[v.row_stride + head * v.head_stride + pos * v.pos_stride];
      EXPECT_EQ(seen, value[0]);
      seen = 42;
      cache.Read(3, 1, pos, head, key, value);
      EXPECT_EQ(value[0], 42);
    }
  }
  EXPECT_THROW(cache.k(4), Error);
  EXPECT_THROW(cache.v(-1), Error);
}

TEST(ContiguousCache, Tiles_PointIntoTheViews) {
  const CacheLayout layout = CacheLayout::Uniform(2, {2, 4, 8}, DType::kF32);
  const ContiguousCache cache(layout, {.rows = 3, .max_len = 40});
  std::array<const std::byte*, 2> k{}, v{};
  cache.Tiles(1, 2, 1, k, v);
  const ContiguousCache::View keys = cache.k(1), values = cache.v(1);
  EXPECT_EQ(static_cast<const void*>(k[1]), static_cast<const float*>(keys.data) + 2 * keys.row_stride + 32 * 4);
  EXPECT_EQ(static_cast<const void*>(v[1]), static_cast<const float*>(values.data) + 2 * values.row_stride + 32 * 8);
  EXPECT_EQ(cache.Geometry(1).key_order, KeyOrder::kTokenMajor);
  EXPECT_EQ(cache.Geometry(1).k_head_bytes, keys.head_stride * 4);
}

class EveryCost : public ::testing::TestWithParam<Storage> {};
INSTANTIATE_TEST_SUITE_P(Storages, EveryCost, ::testing::Values(Storage{}, Storage{16, 40}),
                         [](const auto& info) { return info.param.block_tokens == 0 ? "Contiguous" : "Paged"; });

TEST_P(EveryCost, DecodingNTokens_AppendsNAndCopiesNone) {
  const CacheLayout layout = UnevenLayout(DType::kF16, DType::kF16);
  const auto cache = MakeCache(layout, 2, 100, GetParam());
  AppendTokens(*cache, 0, Draw(layout, 37));
  const uint64_t before = cache->bytes_written();
  for (const Token& token : Draw(layout, 60)) AppendTokens(*cache, 0, {&token, 1});
  EXPECT_EQ(cache->bytes_written() - before, 60 * BytesPerToken(layout));
  EXPECT_EQ(cache->bytes_copied(), 0u);
}

TEST_P(EveryCost, ForkAndPermute_CopyTokensOnlyWhenContiguous) {
  const CacheLayout layout = UnevenLayout(DType::kF32, DType::kF16);
  const auto cache = MakeCache(layout, 3, 100, GetParam());
  AppendTokens(*cache, 0, Draw(layout, 37));
  const size_t token = GetParam().block_tokens == 0 ? BytesPerToken(layout) : 0;
  cache->Fork(0, 1);
  EXPECT_EQ(cache->bytes_copied(), 37 * token);
  cache->Permute(std::array{0, 2, 1});  // row 1 takes an empty row's nothing, row 2 takes 37 tokens
  EXPECT_EQ(cache->bytes_copied(), 2 * 37 * token);
  cache->Fork(0, 0);
  cache->Truncate(0, 3);
  EXPECT_EQ(cache->bytes_copied(), 2 * 37 * token);
}

// From the first append on: growth, copies on write, drops, cuts, forks, permutations and tiles.
TEST_P(EveryCost, NothingAfterConstruction_Allocates) {
  const CacheLayout layout = UnevenLayout(DType::kBF16, DType::kF32);
  const auto cache = MakeCache(layout, 3, 100, GetParam());
  const std::array<float, 64> values{};
  std::array<const std::byte*, 2> k{}, v{};
  const auto grow = [&](std::array<int64_t, 3> counts, bool commit) {
    Append append = cache->BeginAppend(counts);
    for (int layer = 0; layer < 4; ++layer) {
      for (int row = 0; row < 3; ++row) append.Write<float>(layer, row, {values.data(), values.data(), 0, 0, 0, 0});
    }
    cache->Tiles(1, 0, 0, k, v);
    if (commit) append.Commit();
  };
  const int64_t before = allocation_count.load();
  grow({20, 0, 5}, true);
  for (int step = 0; step < 40; ++step) grow({1, 0, 1}, true);
  cache->Fork(0, 1);
  grow({3, 3, 3}, false);
  grow({3, 3, 3}, true);
  cache->Permute(std::array{1, 2, 0});
  cache->Permute(std::array{2, 2, 0});
  cache->Truncate(0, 7);
  cache->Reset(1);
  grow({10, 10, 10}, true);
  EXPECT_EQ(allocation_count.load(), before);
}

// A cache of more bytes than the machine has now is refused: the test is then skipped.
std::unique_ptr<KvCache> MakeHuge(const CacheLayout& layout, int rows, int64_t max_len, const Storage& storage) {
  try {
    return MakeCache(layout, rows, max_len, storage);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCapacity);
    std::cout << error.what() << "\n";
    return nullptr;
  }
}

// Lets a row grow without writing: its memory stays untouched.
void Skip(KvCache& cache, int row, int64_t count) { BeginRow(cache, row, count).Commit(); }

// Rows of 2^30 elements each; rows 1 to 4 are written at both ends. In 32 bits row 4 would land in row 0.
TEST(BR_11, WriteBeyondFourGiElements_LandsInItsOwnRow) {
  constexpr int64_t kMaxLen = int64_t{1} << 23;
  const CacheLayout layout = CacheLayout::Uniform(1, {1, 128, 1}, DType::kF16);
  const auto cache = MakeHuge(layout, 5, kMaxLen, {});
  if (!cache) GTEST_SKIP() << "not enough memory for 10 GiB of address space";
  const std::vector<Token> tokens = Draw(layout, 10);
  for (int row = 1; row < 5; ++row) {
    AppendTokens(*cache, row, {&tokens[static_cast<size_t>(2 * row)], 1});
    Skip(*cache, row, kMaxLen - 2);
    AppendTokens(*cache, row, {&tokens[static_cast<size_t>(2 * row + 1)], 1});
  }
  Skip(*cache, 0, 1);
  EXPECT_EQ(ReadToken(*cache, 0, 0), Token(129, 0.0));
  for (int row = 1; row < 5; ++row) {
    EXPECT_EQ(ReadToken(*cache, row, 0), Stored(layout, tokens[static_cast<size_t>(2 * row)]));
    EXPECT_EQ(ReadToken(*cache, row, kMaxLen - 1), Stored(layout, tokens[static_cast<size_t>(2 * row + 1)]));
  }
}

// Blocks of 2^19 elements; the last of them begins beyond 2^32.
TEST(BR_11, BlockBeyondFourGiElements_IsItsOwn) {
  constexpr int64_t kBlocks = 8'200 + 64;
  const CacheLayout layout = CacheLayout::Uniform(1, {8, 128, 128}, DType::kF16);
  const auto cache = MakeHuge(layout, 2, kBlocks * 256, {256, kBlocks});
  if (!cache) GTEST_SKIP() << "not enough memory for 8 GiB of address space";
  const std::vector<Token> tokens = Draw(layout, 2);
  AppendTokens(*cache, 0, {&tokens[0], 1});
  Skip(*cache, 0, (kBlocks - 1) * 256 - 1);
  AppendTokens(*cache, 1, {&tokens[1], 1});
  EXPECT_EQ(ReadToken(*cache, 0, 0), Stored(layout, tokens[0]));
  EXPECT_EQ(ReadToken(*cache, 1, 0), Stored(layout, tokens[1]));
  for (const int64_t untouched : {int64_t{1}, 64 * int64_t{256}}) {  // where 32 bits would have wrapped to
    EXPECT_EQ(ReadToken(*cache, 0, untouched), Token(2048, 0.0));
  }
}

}  // namespace
}  // namespace ekvi::testing
