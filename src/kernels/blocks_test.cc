// Goal: products with blocks stay within their outputs and have the same bits on every target for any content of the
// panels; rows are rounded as documented. Method: random bytes as panels, guards around the output; rows of extremes.
// (The formula itself is tested in src/model/linear_blocks_test.cc, with packed matrices.)
#include "kernels/blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/cpu.h"
#include "kernels/kernels_testing.h"
#include "kernels/targets.h"
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

struct NamedTable {
  std::string name;
  const BlockTable* table;
};

// Those of all targets, and the copy of avx2_vnni that the dispatcher leaves out where the machine runs both.
std::vector<NamedTable> TablesHere() {
  std::vector<NamedTable> tables;
  for (const Target target : TargetsHere()) {
    tables.push_back({std::string(TargetName(target)), &BlockTableFor(target)});
  }
#if defined(__x86_64__)
  if (base::CpuHasAvxVnni() && base::CpuHasAvx512Vnni()) tables.push_back({"avx2_vnni, EVEX", &Avx2VnniEvexBlocks()});
#endif
  return tables;
}

TEST(Blocks, ARow_HasTheSameBitsAmongAnyNumberOfRowsOnEveryTarget) {
  base::Random random(3);
  constexpr int kRows = 70, kN = 49;
  for (const Format format : numeric::kBlockFormats) {
    const int64_t k = 2 * numeric::ShapeOf(format).values, panel_bytes = BlockPanelOf(format).PanelBytes(k);
    const std::vector<std::byte> panels = RandomPanels((kN + 15) / 16 * panel_bytes, random);
    std::vector<float> x(kRows * k);
    for (float& value : x) value = static_cast<float>(random.Normal());
    const std::vector<Int8Block> rounded = Rounded(BlockTableFor(Target::kScalar), x, kRows);
    const auto multiply = [&](const BlockTable& table, int m) {
      Guarded<float> out(m * kN);
      table.product_int8(
          {rounded.data(), k / kStepInputs, panels.data() + 1, format, panel_bytes, out.data(), kN, m, kN, k});
      EXPECT_TRUE(out.GuardsIntact());
      return out;
    };
    const Guarded<float> reference = multiply(BlockTableFor(Target::kScalar), kRows);
    for (const NamedTable& named : TablesHere()) {
      for (int m = 1; m <= kRows; ++m) {
        const Guarded<float> out = multiply(*named.table, m);
        ASSERT_EQ(std::memcmp(out.data(), reference.data(), static_cast<size_t>(m * kN) * sizeof(float)), 0)
            << named.name << " " << numeric::FormatName(format) << " rows " << m;
      }
    }
  }
}

// A panel of one block whose codes are the largest, with scales of about 1.
std::vector<std::byte> FullPanel(const BlockPanel& panel) {
  std::vector<std::byte> bytes(panel.block_bytes(), std::byte{0x3c});
  for (int step = 0; step < panel.steps; ++step) {
    const int64_t at = panel.head_bytes + int64_t{step} * panel.step_bytes;
    std::fill(&bytes[at + panel.low_at], bytes.data() + at + panel.step_bytes, std::byte{0xff});
  }
  return bytes;
}

// Two products of 255 and 127 leave the range of 16 bits.
TEST(Blocks, TheLargestCodesAndActivations_DoNotSaturateOnAnyTarget) {
  for (const Format format : numeric::kBlockFormats) {
    const int64_t k = numeric::ShapeOf(format).values;
    const std::vector<std::byte> panel = FullPanel(BlockPanelOf(format));
    for (const float x : {-1.0f, 1.0f}) {
      const std::vector<Int8Block> rounded = Rounded(BlockTableFor(Target::kScalar), std::vector<float>(30 * k, x), 30);
      Guarded<float> reference(0);
      for (const NamedTable& named : TablesHere()) {
        Guarded<float> out(30 * kLanes);
        named.table->product_int8({rounded.data(), k / kStepInputs, panel.data(), format,
                                   static_cast<int64_t>(panel.size()), out.data(), kLanes, 30, kLanes, k});
        if (reference.size() == 0) reference = out;
        EXPECT_TRUE(out.SameBits(reference)) << named.name << " " << numeric::FormatName(format) << " " << x;
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
