// Goal: the bytes a shape is said to have are right, checked and refused where they cannot be. Method: published
// figures of real models, sums written out by hand, and every field at and past its limits.
#include "ekvi/cache_layout.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "ekvi/error.h"
#include "plan/strides.h"

namespace ekvi {
namespace {

constexpr int kIntMax = std::numeric_limits<int>::max();

CacheLayout Uneven() {
  return {
      .layers = {{.kv_heads = 2, .head_dim_k = 3, .head_dim_v = 5}, {.kv_heads = 1, .head_dim_k = 33, .head_dim_v = 1}},
      .dtype_k = DType::kF16,
      .dtype_v = DType::kF64};
}

void ExpectRefused(ErrorCode code, const std::string& part, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "nothing thrown; expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(CacheLayout, Uniform_RepeatsOneShape) {
  const CacheLayout layout = CacheLayout::Uniform(3, {.kv_heads = 4, .head_dim_k = 8, .head_dim_v = 16}, DType::kBF16);
  ASSERT_EQ(layout.layers.size(), 3u);
  EXPECT_EQ(layout.layers[2], (LayerShape{4, 8, 16}));
  EXPECT_EQ(layout.dtype_k, DType::kBF16);
  EXPECT_EQ(layout.dtype_v, DType::kBF16);
}

TEST(BytesPerToken, LayersOfDifferentShape_AreSummed) {
  EXPECT_EQ(BytesPerToken(Uneven()), 2u * (3 * 2 + 5 * 8) + 1u * (33 * 2 + 1 * 8));
}

TEST(BlockBytes, EachHeadOfEachLayer_IsRoundedUpTo64) {
  const size_t first = 16 * (3 * 2 + 5 * 8);    // 736 -> 768
  const size_t second = 16 * (33 * 2 + 1 * 8);  // 1184 -> 1216
  EXPECT_EQ(BlockBytes(Uneven(), 16), 2 * ((first + 63) / 64 * 64) + (second + 63) / 64 * 64);
  EXPECT_EQ(BlockBytes(Uneven(), 16), 2u * 768 + 1216);
}

TEST(BlockBytes, UsualHeadSizes_NeedNoPadding) {
  for (const int head_dim : {16, 32, 64, 80, 96, 112, 128, 256}) {
    for (const int block_tokens : {16, 32, 48, 64, 256}) {
      const CacheLayout layout = CacheLayout::Uniform(3, {8, head_dim, head_dim}, DType::kF16);
      EXPECT_EQ(BlockBytes(layout, block_tokens), BytesPerToken(layout) * static_cast<size_t>(block_tokens));
    }
  }
}

TEST(ContiguousBytes, IsRowsTimesLengthTimesToken_WithKAndVPadded) {
  const CacheLayout usual = CacheLayout::Uniform(5, {4, 8, 8}, DType::kF32);
  EXPECT_EQ(ContiguousBytes(usual, {.rows = 3, .max_len = 40}), 3 * 40 * BytesPerToken(usual));
  const size_t k0 = 2 * 2 * 7 * 3 * 2, v0 = 2 * 2 * 7 * 5 * 8, k1 = 2 * 7 * 33 * 2, v1 = 2 * 7 * 8;  // 2 rows of 7
  const auto padded = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
  EXPECT_EQ(ContiguousBytes(Uneven(), {.rows = 2, .max_len = 7}), padded(k0) + padded(v0) + padded(k1) + padded(v1));
}

TEST(CacheBytes, EmptyBatchLengthOrPool_IsZero) {
  EXPECT_EQ(ContiguousBytes(Uneven(), {.rows = 0, .max_len = 7}), 0u);
  EXPECT_EQ(ContiguousBytes(Uneven(), {.rows = 2, .max_len = 0}), 0u);
  EXPECT_EQ(PagedBytes(Uneven(), {.rows = 0, .max_len = 0, .block_tokens = 16, .block_count = 0}), 0u);
}

TEST(PagedBytes, IsBlocksTimesBlockBytes) {
  EXPECT_EQ(PagedBytes(Uneven(), {.rows = 1, .max_len = 9, .block_tokens = 48, .block_count = 11}),
            11 * BlockBytes(Uneven(), 48));
}

TEST(BlocksFor, RoundsUp) {
  EXPECT_EQ(BlocksFor(0, 32), 0);
  EXPECT_EQ(BlocksFor(1, 32), 1);
  EXPECT_EQ(BlocksFor(32, 32), 1);
  EXPECT_EQ(BlocksFor(33, 32), 2);
  EXPECT_EQ(BlocksFor(INT64_MAX, 16), INT64_MAX / 16 + 1);
  ExpectRefused(ErrorCode::kInvalidArgument, "tokens = -1", [] { BlocksFor(-1, 16); });
  ExpectRefused(ErrorCode::kInvalidArgument, "block_tokens = 0", [] { BlocksFor(1, 0); });
}

TEST(CheckLayout, EachBadField_IsNamed) {
  ExpectRefused(ErrorCode::kInvalidArgument, "at least one layer", [] { CheckLayout({}); });
  ExpectRefused(ErrorCode::kInvalidArgument, "at least one layer",
                [] { CheckLayout(CacheLayout::Uniform(-1, {}, DType::kF32)); });
  CacheLayout layout = Uneven();
  layout.layers[1].kv_heads = 0;
  ExpectRefused(ErrorCode::kInvalidArgument, "kv_heads of layer 1 = 0", [&] { CheckLayout(layout); });
  layout = Uneven();
  layout.layers[0].head_dim_k = -7;
  ExpectRefused(ErrorCode::kInvalidArgument, "head_dim_k of layer 0 = -7", [&] { BytesPerToken(layout); });
  layout = Uneven();
  layout.layers[0].head_dim_v = 0;
  ExpectRefused(ErrorCode::kInvalidArgument, "head_dim_v of layer 0 = 0", [&] { BlockBytes(layout, 16); });
  layout = Uneven();
  layout.dtype_v = static_cast<DType>(-1);
  ExpectRefused(ErrorCode::kInvalidArgument, "dtype_v", [&] { ContiguousBytes(layout, {}); });
  layout.dtype_v = static_cast<DType>(77);
  ExpectRefused(ErrorCode::kInvalidArgument, "77", [&] { PagedBytes(layout, {}); });
}

TEST(CheckShape, EachBadField_IsNamed) {
  using Code = ErrorCode;
  const CacheLayout layout = Uneven();
  ExpectRefused(Code::kInvalidArgument, "rows = -1", [&] { ContiguousBytes(layout, {.rows = -1, .max_len = 1}); });
  ExpectRefused(Code::kInvalidArgument, "rows = 1048577",
                [&] { ContiguousBytes(layout, {.rows = kMaxCacheRows + 1}); });
  ExpectRefused(Code::kInvalidArgument, "max_len = -5", [&] { ContiguousBytes(layout, {.rows = 1, .max_len = -5}); });
  for (const int bad : {-16, 0, 1, 15, 257, 272}) {
    ExpectRefused(Code::kInvalidArgument, "block_tokens = " + std::to_string(bad),
                  [&] { PagedBytes(layout, {.block_tokens = bad, .block_count = 1}); });
  }
  ExpectRefused(Code::kInvalidArgument, "no multiple of 16", [&] { BlockBytes(layout, 40); });
  ExpectRefused(Code::kInvalidArgument, "block_count = -1", [&] { PagedBytes(layout, {.block_count = -1}); });
  ExpectRefused(Code::kInvalidArgument, "block_count = 2147483648",
                [&] { PagedBytes(layout, {.block_count = kMaxCacheBlocks + 1}); });
}

TEST(CacheBytes, SizesPast63Bits_AreRefusedNotWrapped) {
  const CacheLayout huge = CacheLayout::Uniform(1, {kIntMax, kIntMax, kIntMax}, DType::kF64);
  ExpectRefused(ErrorCode::kCapacity, "63 bits", [&] { BytesPerToken(huge); });
  ExpectRefused(ErrorCode::kCapacity, "63 bits", [&] { BlockBytes(huge, 16); });
  const CacheLayout small = CacheLayout::Uniform(1, {1, 1, 1}, DType::kF16);
  ExpectRefused(ErrorCode::kCapacity, "63 bits", [&] { ContiguousBytes(small, {.rows = 1, .max_len = INT64_MAX}); });
  EXPECT_EQ(ContiguousBytes(small, {.rows = 1, .max_len = INT64_MAX / 8}), static_cast<size_t>(INT64_MAX / 8 + 1) * 4);
  const CacheLayout wide = CacheLayout::Uniform(1, {1 << 14, 1 << 14, 1 << 14}, DType::kF64);  // 2^32 a token
  EXPECT_EQ(BytesPerToken(wide), size_t{1} << 32);
  EXPECT_EQ(PagedBytes(wide, {.block_tokens = 16, .block_count = 1 << 26}), size_t{1} << 62);
  ExpectRefused(ErrorCode::kCapacity, "63 bits",
                [&] { PagedBytes(wide, {.block_tokens = 16, .block_count = 1 << 27}); });
}

// gpt-oss-120b: 36 layers, 8 KV heads of 64, bf16. Every layer stores the full length here, windowed ones too.
TEST(BR_57, FullLengthStorageOfGptOss_Is73728BytesPerToken) {
  const CacheLayout layout = CacheLayout::Uniform(36, {8, 64, 64}, DType::kBF16);
  EXPECT_EQ(BytesPerToken(CacheLayout::Uniform(1, {8, 64, 64}, DType::kBF16)), 2048u);
  EXPECT_EQ(BytesPerToken(layout), 73'728u);
  for (const int64_t length : {1, 128, 129, 78'384}) {
    EXPECT_EQ(ContiguousBytes(layout, {.rows = 1, .max_len = length}), 73'728u * static_cast<size_t>(length));
  }
  EXPECT_NEAR(static_cast<double>(ContiguousBytes(layout, {.rows = 1, .max_len = 78'384})) * 0x1p-30, 5.38, 0.005);
  EXPECT_EQ(BlockBytes(layout, 32), 73'728u * 32);
}

// Gemma 3: caches here keep all of every layer, windows or not, and the figures say so.
TEST(BR_58, FullLengthStorageOfGemma3_IsTheSumOfItsLayers) {
  const auto mib = [](int layers, DType dtype, int64_t length) {
    const CacheLayout layout = CacheLayout::Uniform(layers, {1, 256, 256}, dtype);
    return static_cast<double>(ContiguousBytes(layout, {.rows = 1, .max_len = length})) * 0x1p-20;
  };
  EXPECT_EQ(mib(26, DType::kBF16, 32'768), 832);
  EXPECT_EQ(mib(26, DType::kF32, 8'192), 416);
  EXPECT_EQ(mib(18, DType::kF32, 8'192), 288);
}

// Head sizes come from the layout and never from hidden / heads; key and value sizes may differ.
TEST(BR_59, ExplicitHeadSizes_GiveThePublishedFigures) {
  const CacheLayout qwen3_4b = CacheLayout::Uniform(36, {8, 128, 128}, DType::kBF16);
  EXPECT_EQ(BytesPerToken(qwen3_4b), 147'456u);
  // DeepSeek-V3: the latent form keeps one row of 64 rotary and 512 latent values, the expanded one 128 heads.
  const CacheLayout latent = CacheLayout::Uniform(61, {1, 64, 512}, DType::kBF16);
  EXPECT_EQ(BytesPerToken(latent), 70'272u);
  const CacheLayout expanded = CacheLayout::Uniform(61, {128, 192, 128}, DType::kBF16);
  EXPECT_EQ(BytesPerToken(expanded), 4'997'120u);
  const auto gib = [](const CacheLayout& layout) {
    return static_cast<double>(ContiguousBytes(layout, {.rows = 1, .max_len = 65'536})) * 0x1p-30;
  };
  EXPECT_NEAR(gib(latent), 4.29, 0.005);
  EXPECT_NEAR(gib(expanded), 305.0, 0.05);
}

// Head sizes that are no multiple of anything: parts, blocks and totals come from one function and add up exactly.
TEST(BR_27, OddHeadSizes_PartsAddUpToBlocks) {
  for (const int head_dim : {1, 3, 33, 64, 80, 96, 112, 128, 256}) {
    for (const DType dtype : {DType::kF64, DType::kF32, DType::kF16, DType::kBF16}) {
      const CacheLayout layout = CacheLayout::Uniform(2, {3, head_dim, head_dim + 1}, dtype);
      for (int block_tokens = 16; block_tokens <= 256; block_tokens += 16) {
        const size_t part = plan::BlockPartBytes(layout, layout.layers[0], block_tokens);
        const plan::KvBytes head = plan::HeadBytes(layout, layout.layers[0], static_cast<size_t>(block_tokens));
        EXPECT_EQ(part % plan::kPartAlignment, 0u);
        EXPECT_GE(part, head.k + head.v);
        EXPECT_LT(part, head.k + head.v + plan::kPartAlignment);
        EXPECT_EQ(BlockBytes(layout, block_tokens), 2 * 3 * part);
      }
    }
  }
}

}  // namespace
}  // namespace ekvi
