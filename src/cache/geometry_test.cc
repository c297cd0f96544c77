// Goal: strides place every value of an arena once, inside it, with 64-bit offsets. Method: all bytes of small arenas
// are painted value by value; huge strides are computed and compared with products in 128 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cache/block_geometry.h"
#include "cache/cache_twin.h"
#include "cache/contiguous_geometry.h"

namespace ekvi::cache {
namespace {

using Wide = __int128;

PagedShape Blocks(int64_t count, int block_tokens) {
  return {.rows = 1, .max_len = 1, .block_tokens = block_tokens, .block_count = count};
}

// Counts how often each byte of an arena is claimed.
class Paint {
 public:
  explicit Paint(int64_t bytes) : claims_(static_cast<size_t>(bytes)) {}
  void Claim(int64_t first, int64_t bytes) {
    ASSERT_LE(0, first);
    ASSERT_LE(first + bytes, static_cast<int64_t>(claims_.size()));
    for (int64_t i = first; i < first + bytes; ++i) ++claims_[static_cast<size_t>(i)];
  }
  int64_t ClaimedOnce() const { return std::count(claims_.begin(), claims_.end(), 1); }
  int64_t ClaimedOften() const {
    return std::count_if(claims_.begin(), claims_.end(), [](char n) { return n > 1; });
  }

 private:
  std::vector<char> claims_;
};

TEST(BlockGeometry, Tiles_ShareNoByteAndFillTheArenaButForPadding) {
  const CacheLayout layout = testing::UnevenLayout(DType::kF16, DType::kF64);
  for (const int block_tokens : {16, 48}) {
    const BlockGeometry geometry(layout, Blocks(2, block_tokens));
    Paint paint(2 * geometry.block_bytes());
    for (int layer = 0; layer < 4; ++layer) {
      for (int head = 0; head < layout.layers[static_cast<size_t>(layer)].kv_heads; ++head) {
        for (int i = 0; i < 2 * geometry.tiles_per_block(); ++i) {
          const int tiles = geometry.tiles_per_block();
          const TileOffset offset = geometry.Offset(i / tiles, layer, head, i % tiles);
          paint.Claim(offset.k, geometry.key_bytes(layer, kTileTokens));
          paint.Claim(offset.v, geometry.value_bytes(layer, kTileTokens));
          EXPECT_EQ(offset.k % 2, 0);
          EXPECT_EQ(offset.v % 8, 0);
        }
      }
    }
    EXPECT_EQ(paint.ClaimedOften(), 0);
    EXPECT_EQ(paint.ClaimedOnce(), static_cast<int64_t>(BytesPerToken(layout)) * block_tokens * 2);
  }
}

TEST(BlockGeometry, HeadsAndBlocksOfALayer_AreAdjacent) {
  const BlockGeometry geometry(testing::UnevenLayout(DType::kF32, DType::kF32), Blocks(3, 32));
  const TileOffset head = geometry.HeadStride(0);
  EXPECT_EQ(geometry.Offset(0, 0, 1, 0).k, head.k);
  EXPECT_EQ(geometry.Offset(1, 0, 0, 0).k, 2 * head.k);
  EXPECT_EQ(geometry.Offset(0, 0, 0, 0).v, 3 * 2 * head.k);
  EXPECT_EQ(geometry.Offset(0, 0, 1, 0).v, 3 * 2 * head.k + head.v);
  EXPECT_EQ(geometry.Offset(1, 0, 0, 0).v, 3 * 2 * head.k + 2 * head.v);
  EXPECT_EQ(geometry.Offset(0, 3, 2, 0).k % 64, 0);
  EXPECT_EQ(geometry.block_bytes() % 64, 0);
}

TEST(BlockGeometry, KeyBytes_AreWholeTiles) {
  const BlockGeometry geometry(CacheLayout::Uniform(1, {1, 3, 5}, DType::kF32), Blocks(1, 32));
  EXPECT_EQ(geometry.key_bytes(0, 0), 0);
  EXPECT_EQ(geometry.key_bytes(0, 1), 16 * 3 * 4);
  EXPECT_EQ(geometry.key_bytes(0, 16), 16 * 3 * 4);
  EXPECT_EQ(geometry.key_bytes(0, 17), 32 * 3 * 4);
  EXPECT_EQ(geometry.value_bytes(0, 17), 17 * 5 * 4);
}

TEST(ContiguousGeometry, Tokens_ShareNoByteAndFillTheArenaButForPadding) {
  const CacheLayout layout = testing::UnevenLayout(DType::kBF16, DType::kF64);
  const ContiguousGeometry geometry(layout, {.rows = 2, .max_len = 7});
  Paint paint(geometry.bytes());
  for (int layer = 0; layer < 4; ++layer) {
    EXPECT_EQ(geometry.LayerOffset(layer).v % 64, 0);
    for (int head = 0; head < layout.layers[static_cast<size_t>(layer)].kv_heads; ++head) {
      for (int i = 0; i < 2 * 7; ++i) {
        const TileOffset offset = geometry.Offset(layer, i / 7, head, i % 7);
        paint.Claim(offset.k, geometry.TokenStride(layer).k);
        paint.Claim(offset.v, geometry.TokenStride(layer).v);
      }
    }
  }
  EXPECT_EQ(paint.ClaimedOften(), 0);
  EXPECT_EQ(paint.ClaimedOnce(), static_cast<int64_t>(BytesPerToken(layout)) * 2 * 7);
}

// The example of docs/cache.md: token 17, head 1, last dimension.
TEST(CacheGeometry, ExampleOfTheDocuments_IsExact) {
  const CacheLayout layout{
      .layers = {{.kv_heads = 2, .head_dim_k = 3, .head_dim_v = 2}}, .dtype_k = DType::kF16, .dtype_v = DType::kF16};
  const ContiguousGeometry contiguous(layout, {.rows = 1, .max_len = 20});
  EXPECT_EQ(contiguous.bytes(), 448);
  EXPECT_EQ(contiguous.Offset(0, 0, 1, 17).k + 2 * 2, 226);
  EXPECT_EQ(contiguous.Offset(0, 0, 1, 17).v + 1 * 2, 406);
  const BlockGeometry paged(layout, Blocks(8, 16));
  EXPECT_EQ(paged.HeadStride(0).k, 96);
  EXPECT_EQ(paged.HeadStride(0).v, 64);
  EXPECT_EQ(paged.block_bytes(), 384);
  EXPECT_EQ(paged.Offset(5, 0, 1, 0).k + (2 * 16 + 1) * 2, 1122);
  EXPECT_EQ(paged.Offset(5, 0, 1, 0).v + (1 * 2 + 1) * 2, 2246);
}

// Rows of 2^30 elements: row 4 begins at 2^32 elements, which 32 bits call 0.
TEST(BR_11, RowStrideOf2To30Elements_IsMultipliedIn64Bits) {
  const CacheLayout layout = CacheLayout::Uniform(32, {32, 128, 128}, DType::kF16);
  const ContiguousGeometry geometry(layout, {.rows = 5, .max_len = 262'144});
  const Wide row = Wide{32} * 262'144 * 128 * 2, layer_bytes = row * 5;
  EXPECT_EQ(row, Wide{2} << 30);
  for (int r = 0; r < 5; ++r) {
    EXPECT_TRUE(geometry.Offset(0, r, 0, 0).k == row * r);
    EXPECT_TRUE(geometry.Offset(31, r, 31, 262'143).v == 31 * 2 * layer_bytes + layer_bytes + row * (r + 1) - 256);
  }
}

TEST(BR_11, MoreThan2To32Tokens_AreCountedIn64Bits) {
  const ContiguousGeometry geometry(CacheLayout::Uniform(1, {2, 1, 1}, DType::kF16),
                                    {.rows = 3, .max_len = int64_t{1} << 33});
  EXPECT_EQ(geometry.Offset(0, 2, 1, 7).k, (int64_t{5} * (int64_t{1} << 33) + 7) * 2);
}

TEST(BR_11, LastBlockOfTheLargestPool_IsMultipliedIn64Bits) {
  const CacheLayout layout = CacheLayout::Uniform(1, {8, 128, 128}, DType::kF16);
  const BlockGeometry geometry(layout, Blocks(kMaxCacheBlocks, 256));
  const int64_t block = kMaxCacheBlocks - 1;
  const Wide head = 256 * 256, keys = Wide{kMaxCacheBlocks} * 8 * head;
  EXPECT_TRUE(geometry.Offset(block, 0, 7, 15).k == Wide{block} * 8 * head + 7 * head + 15 * 16 * 256);
  EXPECT_TRUE(geometry.Offset(block, 0, 7, 15).v == keys + Wide{block} * 8 * head + 7 * head + 15 * 16 * 256);
}

}  // namespace
}  // namespace ekvi::cache
