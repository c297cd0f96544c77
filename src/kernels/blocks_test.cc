// Goal: products with blocks stay within their outputs and have the same bits on every target for any content of the
// panels; rows are rounded as documented. Method: random bytes as panels, guards around the output; rows of extremes.
// (The formula itself is tested in src/model/linear_blocks_test.cc, with packed matrices.)
#include "kernels/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/kernels_testing.h"
#include "numeric/block_testing.h"

namespace ekvi::kernels {
namespace {

using numeric::Format;

std::vector<Int8Block> Rounded(const BlockTable& table, const std::vector<float>& x, int64_t rows) {
  const auto k = static_cast<int64_t>(x.size()) / rows;
  std::vector<Int8Block> out(x.size() / kStepInputs);
  table.round_rows(
      {.x = x.data(), .x_stride = k, .out = out.data(), .out_stride = k / kStepInputs, .rows = rows, .k = k});
  return out;
}

// Bytes for whole panels; scales are whatever the bytes say, not always finite.
std::vector<std::byte> RandomPanels(int64_t bytes, base::Random& random) {
  std::vector<std::byte> panels(bytes + 1);
  for (std::byte& byte : panels) byte = static_cast<std::byte>(random.Below(120));  // f16 below 2^15
  return panels;
}

TEST(Blocks, EveryTarget_GivesTheSameBitsAndKeepsToItsColumns) {
  base::Random random(1);
  for (const Format format : numeric::kBlockFormats) {
    const int64_t k = 2 * numeric::ShapeOf(format).values, panel_bytes = BlockPanelOf(format).PanelBytes(k);
    for (const auto& [m, n] : {std::pair{1, 1}, {1, 70}, {5, 33}, {13, 48}}) {
      const std::vector<std::byte> panels = RandomPanels((n + 15) / 16 * panel_bytes, random);
      Guarded<float> a(m * k);
      a.Fill(random);
      const std::vector<float> x(a.data(), a.data() + m * k);
      Guarded<float> reference(0), reference_int8(0);
      for (const Target target : TargetsHere()) {
        const BlockTable& table = BlockTableFor(target);
        Guarded<float> out(m * n), out_int8(m * n);
        const std::vector<Int8Block> rounded = Rounded(table, x, m);
        table.product({a.data(), k, panels.data() + 1, format, panel_bytes, out.data(), n, m, n, k});
        table.product_int8(
            {rounded.data(), k / kStepInputs, panels.data() + 1, format, panel_bytes, out_int8.data(), n, m, n, k});
        ASSERT_TRUE(out.GuardsIntact() && out_int8.GuardsIntact());
        if (target == Target::kScalar) reference = out, reference_int8 = out_int8;
        EXPECT_TRUE(out.SameBits(reference)) << TargetName(target) << numeric::FormatName(format) << m;
        EXPECT_TRUE(out_int8.SameBits(reference_int8)) << TargetName(target) << numeric::FormatName(format) << m;
      }
    }
  }
}

TEST(RoundRows, EveryTarget_RoundsToTheNearestOf255Steps) {
  base::Random random(2);
  std::vector<float> x(64 * kStepInputs);
  for (float& value : x) value = static_cast<float>(random.Normal() * std::exp(20 * random.Normal()));
  const std::vector<Int8Block> reference = Rounded(BlockTableFor(Target::kScalar), x, 4);
  for (const Target target : TargetsHere()) {
    const std::vector<Int8Block> rounded = Rounded(BlockTableFor(target), x, 4);
    EXPECT_EQ(std::memcmp(rounded.data(), reference.data(), rounded.size() * sizeof(Int8Block)), 0);
  }
  for (size_t block = 0; block < reference.size(); ++block) {
    const Int8Block& b = reference[block];
    int sums[2] = {};
    for (int i = 0; i < kStepInputs; ++i) {
      EXPECT_LE(std::fabs(b.q[i] * b.scale - x[block * kStepInputs + i]), 0.5001f * b.scale);
      sums[i / 16] += b.q[i];
    }
    for (int half : {0, 1}) EXPECT_EQ(b.minus_half_sums[half], -sums[half]);
    EXPECT_EQ(b.sum, static_cast<float>(sums[0] + sums[1]));
    EXPECT_EQ(b.minus_sum, -(sums[0] + sums[1]));
    EXPECT_EQ(b.half_sums[1], static_cast<float>(sums[1]));
  }
}

TEST(RoundRows, TiesGoToEven) {
  std::vector<float> x(kStepInputs);
  x[0] = 127;
  x[1] = 0.5f, x[2] = 1.5f, x[3] = -2.5f, x[4] = -127;
  for (const Target target : TargetsHere()) {
    const Int8Block b = Rounded(BlockTableFor(target), x, 1)[0];
    EXPECT_EQ(b.scale, 1);
    EXPECT_EQ(b.q[0], 127);
    EXPECT_EQ(b.q[1], 0);
    EXPECT_EQ(b.q[2], 2);
    EXPECT_EQ(b.q[3], -2);
    EXPECT_EQ(b.q[4], -127);
  }
}

TEST(RoundRows, BlocksThatAreNotFinite_GetAScaleOfNanAndNoOtherDoes) {
  for (const float bad : {NAN, -NAN, INFINITY, -INFINITY}) {
    for (const int at : {0, 15, 16, 31}) {
      std::vector<float> x(3 * kStepInputs, 1.0f);
      x[kStepInputs + at] = bad;
      for (const Target target : TargetsHere()) {
        const std::vector<Int8Block> b = Rounded(BlockTableFor(target), x, 1);
        EXPECT_TRUE(std::isnan(b[1].scale));
        EXPECT_EQ(b[1].minus_sum, 0);
        EXPECT_EQ(b[0].q[at], 127);
        EXPECT_EQ(b[2].scale, 1.0f / 127);
      }
    }
  }
}

TEST(RoundRows, ZeroTinyAndHugeBlocks_StayFinite) {
  for (const float size : {0.0f, 1e-45f, 1e-38f, 0x1p-119f, 3.4e38f}) {
    const std::vector<float> x(kStepInputs, -size);
    for (const Target target : TargetsHere()) {
      const Int8Block b = Rounded(BlockTableFor(target), x, 1)[0];
      EXPECT_EQ(b.scale, size < 0x1p-119f ? 0 : size / 127);
      EXPECT_EQ(b.q[7], size < 0x1p-119f ? 0 : -127);
    }
  }
}

}  // namespace
}  // namespace ekvi::kernels
