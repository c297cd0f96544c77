// Goal: every format decodes to the values its description gives, in float32 and widened in float64, and scales that
// are not finite are found. Method: blocks made by hand whose values are known, the parts of random blocks against the
// formula of the header, extremes of every field. (Whole files of every type are compared with another implementation's
// logits in src/model/quantized_models_test.cc.)
#include "numeric/block_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "numeric/block_testing.h"

namespace ekvi::numeric {
namespace {

std::vector<float> Decoded(Format format, const std::vector<std::byte>& block) {
  std::vector<float> values(ShapeOf(format).values);
  Decode(format, block.data(), values.data(), values.size());
  return values;
}

std::vector<std::byte> Zeros(Format format) { return std::vector<std::byte>(ShapeOf(format).bytes); }

TEST(BlockFormat, NamesAndBytes_AreThoseOfFiles) {
  EXPECT_EQ(FormatName(Format::kQ4_K), "Q4_K");
  EXPECT_EQ(FormatName(Format::kIQ4_NL), "IQ4_NL");
  EXPECT_EQ(FormatBytes(Format::kQ8_0, 64), 68u);
  EXPECT_EQ(FormatBytes(Format::kQ6_K, 512), 420u);
  EXPECT_EQ(FormatBytes(Format::kF32, 3), 12u);
  EXPECT_EQ(FormatOf(DType::kBF16), Format::kBF16);
  EXPECT_EQ(PlainType(Format::kF16), DType::kF16);
  EXPECT_FALSE(PlainType(Format::kMXFP4));
}

TEST(BlockFormat, NibblesOfOldFormats_AreFirstAllLowHalves) {
  for (const auto& [format, at, offset] : {std::tuple{Format::kQ4_0, 2, 8}, std::tuple{Format::kQ4_1, 4, 0}}) {
    std::vector<std::byte> block = Zeros(format);
    WriteF16(block.data(), 0.5f);
    for (int i = 0; i < 16; ++i) block[at + i] = static_cast<std::byte>(i | (15 - i) << 4);
    const std::vector<float> values = Decoded(format, block);
    for (int i = 0; i < 16; ++i) {
      EXPECT_EQ(values[i], 0.5f * static_cast<float>(i - offset));
      EXPECT_EQ(values[16 + i], 0.5f * static_cast<float>(15 - i - offset));
    }
  }
}

TEST(BlockFormat, FifthBits_BelongToTheirValue) {
  for (const auto& [format, at, offset] : {std::tuple{Format::kQ5_0, 2, 16}, std::tuple{Format::kQ5_1, 4, 0}}) {
    for (int bit = 0; bit < 32; ++bit) {
      std::vector<std::byte> block = Zeros(format);
      WriteF16(block.data(), 1);
      block[at + bit / 8] = static_cast<std::byte>(1 << bit % 8);
      const std::vector<float> values = Decoded(format, block);
      for (int i = 0; i < 32; ++i) EXPECT_EQ(values[i], static_cast<float>((i == bit ? 16 : 0) - offset)) << i;
    }
  }
}

TEST(BlockFormat, MinimumOfOldFormats_IsAddedInFloat32) {
  std::vector<std::byte> block = Zeros(Format::kQ4_1);
  WriteF16(block.data(), 0.1f);
  WriteF16(block.data() + 2, 3000);
  block[4] = std::byte{3};
  const float scale = ToF32(ToF16(0.1f));
  EXPECT_EQ(Decoded(Format::kQ4_1, block)[0], 3 * scale + 3000.0f);
  double wide[32];
  Decode(Format::kQ4_1, block.data(), wide, 32);
  EXPECT_EQ(wide[0], static_cast<double>(3 * scale + 3000.0f));  // not the exact sum: the format rounds in float32
  EXPECT_NE(wide[0], 3.0 * scale + 3000);
}

TEST(BlockFormat, Q8_IsScaleTimesInteger) {
  for (const float scale : {1.0f, -1.9990234375f, 0x1p-24f}) {
    std::vector<std::byte> block = Zeros(Format::kQ8_0);
    WriteF16(block.data(), scale);
    for (int i = 0; i < 32; ++i) block[2 + i] = static_cast<std::byte>(8 * i - 128);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(Decoded(Format::kQ8_0, block)[i], scale * static_cast<float>(8 * i - 128));
  }
}

TEST(BlockFormat, Codebooks_HoldTheirLevels) {
  const int iq4[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
  const float fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6};  // of E2M1
  std::vector<std::byte> nl = Zeros(Format::kIQ4_NL), mx = Zeros(Format::kMXFP4);
  WriteF16(nl.data(), 2);
  mx[0] = std::byte{127};
  for (int i = 0; i < 16; ++i) nl[2 + i] = mx[1 + i] = static_cast<std::byte>(i | i << 4);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(Decoded(Format::kIQ4_NL, nl)[i], 2 * static_cast<float>(iq4[i % 16]));
    EXPECT_EQ(Decoded(Format::kMXFP4, mx)[i], fp4[i % 16]);
  }
}

TEST(BlockFormat, Mxfp4Scales_ArePowersOfTwoDownToSubnormalNumbers) {
  for (int e = 0; e <= 252; ++e) {
    std::vector<std::byte> block = Zeros(Format::kMXFP4);
    block[0] = static_cast<std::byte>(e);
    block[1] = std::byte{2};  // one
    EXPECT_EQ(Decoded(Format::kMXFP4, block)[0], static_cast<float>(std::ldexp(1.0, e - 127))) << e;
  }
}

// Six bits of a scale and of a minimum, one at a time, reach their 32 values.
TEST(BlockFormat, SixBitScales_ReachTheirValues) {
  for (int sub = 0; sub < 8; ++sub) {
    for (int bit = 0; bit < 6; ++bit) {
      std::vector<std::byte> scale = Zeros(Format::kQ4_K), min = Zeros(Format::kQ4_K);
      for (auto* block : {&scale, &min}) {
        WriteF16(block->data(), 1);
        WriteF16(block->data() + 2, 1);
        for (int i = 0; i < 128; ++i) (*block)[16 + i] = std::byte{0x11};
      }
      const auto set = [&](std::vector<std::byte>& block, int which) {  // 0: scale, 1: minimum
        const int at = sub < 4 ? 4 * which + sub : bit < 4 ? 8 + sub - 4 : 4 * which + sub - 4;
        const int shift = sub < 4 ? bit : bit < 4 ? 4 * which + bit : 6 + bit - 4;
        block[4 + at] |= static_cast<std::byte>(1 << shift);
      };
      set(scale, 0);
      set(min, 1);
      for (int i = 0; i < 256; ++i) {
        const float want = i / 32 == sub ? static_cast<float>(1 << bit) : 0;
        EXPECT_EQ(Decoded(Format::kQ4_K, scale)[i], want) << sub << " " << bit << " " << i;
        EXPECT_EQ(Decoded(Format::kQ4_K, min)[i], -want) << sub << " " << bit << " " << i;
      }
    }
  }
}

// The header's formula on the parts of a block, in double, rounded once: no product may have rounded before.
TEST(BlockFormat, Values_RoundAtMostOnce) {
  base::Random random(1);
  for (const Format format : kBlockFormats) {
    const BlockShape shape = ShapeOf(format);
    for (int round = 0; round < 50; ++round) {
      const RandomValues block(format, static_cast<size_t>(shape.values), random);
      std::vector<float> values(shape.values);
      std::vector<double> wide(shape.values);
      Decode(format, block.data(), values.data(), values.size());
      Decode(format, block.data(), wide.data(), wide.size());
      BlockParts parts;
      UnpackerOf(format)(block.data(), &parts);
      for (int i = 0; i < shape.values; ++i) {
        const int sub = i / shape.scale_values, code = parts.codes[i];
        const int level = shape.codebook == Codebook::kIq4     ? kIq4Levels[code]
                          : shape.codebook == Codebook::kMxfp4 ? kMxfp4Levels[code]
                                                               : code;
        const double whole = format == Format::kMXFP4 ? ToF32(BF16{parts.scale}) : ToF32(F16{parts.scale});
        const double scale = shape.sub_scale == SubScale::kNone ? whole
                             : shape.sub_scale == SubScale::kUnsigned
                                 ? whole * parts.sub_scales[sub]
                                 : whole * static_cast<int8_t>(parts.sub_scales[sub]);
        const double min = shape.has_min() ? ToF32(F16{parts.min}) : 0;
        const double term = shape.sub_scale == SubScale::kNone ? min : -min * parts.sub_mins[sub];
        ASSERT_EQ(values[i], static_cast<float>(scale * (level - shape.offset) + term)) << FormatName(format) << i;
        ASSERT_EQ(wide[i], static_cast<double>(values[i]));
      }
    }
  }
}

TEST(BlockFormat, ScaleThatIsNotFinite_IsFoundAtTheFirstValueOfItsBlock) {
  base::Random random(2);
  for (const Format format : kBlockFormats) {
    const BlockShape shape = ShapeOf(format);
    const auto count = static_cast<size_t>(5 * shape.values);
    RandomValues values(format, count, random);
    EXPECT_FALSE(FirstBadBlock(format, values.data(), count));
    std::byte* const third = values.data() + 2 * shape.bytes;
    if (format == Format::kMXFP4)
      *third = std::byte{255};
    else
      WriteF16(third + (shape.has_min() ? shape.min_at : shape.scale_at), -INFINITY);
    EXPECT_EQ(FirstBadBlock(format, values.data(), count), static_cast<size_t>(2 * shape.values)) << FormatName(format);
  }
}

TEST(BlockFormat, Mxfp4PastFloat32_IsFoundWhereAValueIs) {
  std::vector<std::byte> block = Zeros(Format::kMXFP4);
  block[0] = std::byte{254};
  EXPECT_FALSE(FirstBadBlock(Format::kMXFP4, block.data(), 32));
  block[3] = std::byte{0x70};  // 6 × 2^127, as value 18
  EXPECT_EQ(FirstBadBlock(Format::kMXFP4, block.data(), 32), size_t{18});
}

}  // namespace
}  // namespace ekvi::numeric
