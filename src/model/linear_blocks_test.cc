// Goal: weights in blocks multiply in float32 with the bits of their decoded matrix, and as integers with the bits of
// the written formula, for every format, target, number of rows, cut and odd number of outputs. Method: a matrix of
// decoded values, and a plain loop over the stored blocks, compared with ==.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "ekvi/error.h"
#include "model/linear.h"
#include "numeric/block_testing.h"

namespace ekvi::model {
namespace {

using numeric::BlockParts;
using numeric::BlockShape;
using numeric::Format;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<kernels::Target> TargetsHere() {
  std::vector<kernels::Target> targets;
  for (const auto target : kernels::kTargets) {
    if (kernels::TargetAvailable(target)) targets.push_back(target);
  }
  return targets;
}

// A stored matrix and its values.
class Matrix {
 public:
  Matrix(Format format, int64_t outputs, int64_t inputs, uint64_t seed)
      : random_(seed), stored_(format, static_cast<size_t>(outputs * inputs), random_), values_(outputs * inputs) {
    numeric::Decode(format, stored_.data(), values_.data(), values_.size());
    view_ = {.name = "w",
             .format = format,
             .data = stored_.data(),
             .stored_outputs = outputs,
             .outputs = outputs,
             .inputs = inputs};
  }
  const MatrixView& view() const { return view_; }
  MatrixView Decoded() const {
    MatrixView view = view_;
    view.format = Format::kF32;
    view.data = reinterpret_cast<const std::byte*>(values_.data());
    return view;
  }

 private:
  base::Random random_;
  numeric::RandomValues stored_;
  std::vector<float> values_;
  MatrixView view_;
};

std::vector<float> RandomRows(int64_t count, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> rows(count);
  for (float& value : rows) value = static_cast<float>(random.Normal());
  return rows;
}

std::vector<float> Multiply(const Linear<float>& linear, const std::vector<float>& x, int64_t m, kernels::Target target,
                            base::ThreadPool& pool) {
  std::vector<float> out(m * linear.outputs(), -77);
  RunAlone<float>({&linear, x.data(), linear.inputs(), out.data(), linear.outputs()}, m,
                  Workshop<float>(target, &pool));
  return out;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// 32 activations as kernels/blocks.h rounds them.
struct Rounded {
  int q[32] = {};
  float scale = 0;

  explicit Rounded(const float* x) {
    float max = 0;
    for (int i = 0; i < 32; ++i) max = std::isnan(x[i]) ? kInfinity : std::max(max, std::fabs(x[i]));
    for (int i = 0; i < 32; ++i) max = std::isnan(x[i]) ? kInfinity : max;
    if (max == kInfinity) scale = kNan;
    if (!(max >= 0x1p-119f && max < kInfinity)) return;
    scale = max / 127;
    for (int i = 0; i < 32; ++i) q[i] = static_cast<int>(std::nearbyintf(x[i] * (127 / max)));
  }
};

// The formula of kernels/blocks.h for one step of 32 inputs of one output.
float AddStep(const BlockParts& parts, Format format, int step, const Rounded& x, float sum) {
  const BlockShape shape = numeric::ShapeOf(format);
  const int subs = 32 / shape.scale_values;
  float t = 0, terms[2] = {}, sums[2] = {};
  for (int sub = 0; sub < subs; ++sub) {
    const int index = step * subs + sub;
    int dot = 0, total = 0;
    for (int i = sub * shape.scale_values; i < (sub + 1) * shape.scale_values; ++i) {
      const int code = parts.codes[32 * step + i];
      const int level = shape.codebook == numeric::Codebook::kIq4     ? numeric::kIq4Levels[code]
                        : shape.codebook == numeric::Codebook::kMxfp4 ? numeric::kMxfp4Levels[code]
                                                                      : code;
      dot += (level - shape.offset) * x.q[i];
      total += x.q[i];
    }
    const float whole = format == Format::kMXFP4 ? ToF32(numeric::BF16{parts.scale}) : ToF32(numeric::F16{parts.scale});
    const float min = shape.has_min() ? ToF32(numeric::F16{parts.min}) : 0;
    float scale = whole;
    terms[sub] = min;
    if (shape.sub_scale != numeric::SubScale::kNone) {
      const bool is_signed = shape.sub_scale == numeric::SubScale::kSigned;
      scale = whole * static_cast<float>(is_signed ? static_cast<int8_t>(parts.sub_scales[index])
                                                   : static_cast<int>(parts.sub_scales[index]));
      terms[sub] = -(min * static_cast<float>(parts.sub_mins[index]));
    }
    sums[sub] = static_cast<float>(total);
    t = sub == 0 ? static_cast<float>(dot) * scale : std::fma(static_cast<float>(dot), scale, t);
  }
  for (int sub = 0; sub < subs && shape.has_min(); ++sub) t = std::fma(terms[sub], sums[sub], t);
  return std::fma(t, x.scale, sum);
}

std::vector<float> NaiveInt8(const MatrixView& matrix, const std::vector<float>& x, int64_t m) {
  const BlockShape shape = numeric::ShapeOf(matrix.format);
  std::vector<float> out(m * matrix.outputs);
  for (int64_t n = 0; n < matrix.outputs; ++n) {
    for (int64_t k = 0; k < matrix.inputs; k += shape.values) {
      BlockParts parts;
      numeric::UnpackerOf(matrix.format)(
          matrix.data + numeric::FormatBytes(matrix.format, static_cast<size_t>(n * matrix.inputs + k)), &parts);
      for (int64_t row = 0; row < m; ++row) {
        float& sum = out[row * matrix.outputs + n];
        for (int step = 0; step < shape.values / 32; ++step) {
          sum = AddStep(parts, matrix.format, step, Rounded(&x[row * matrix.inputs + k + 32 * step]), sum);
        }
      }
    }
  }
  return out;
}

class BlockFormats : public ::testing::TestWithParam<Format> {
 protected:
  int64_t block() const { return numeric::ShapeOf(GetParam()).values; }
};

TEST_P(BlockFormats, FloatProducts_HaveTheBitsOfTheDecodedMatrix) {
  base::ThreadPool one(1), three(3);
  for (const auto& [outputs, blocks, m] : {std::tuple{1, 1, 1}, {15, 3, 2}, {50, 9, 5}, {33, 2, 40}, {210, 3, 300}}) {
    const Matrix matrix(GetParam(), outputs, blocks * block(), 3);
    const Linear<float> linear(matrix.view(), RandomRows(outputs, 8), one);
    const Linear<float> decoded(matrix.Decoded(), RandomRows(outputs, 8), one);
    EXPECT_EQ(linear.format(), GetParam());
    const std::vector<float> x = RandomRows(m * blocks * block(), 7);
    for (const kernels::Target target : TargetsHere()) {
      if (target == kernels::Target::kScalar && m > 100) continue;
      EXPECT_TRUE(SameBits(Multiply(linear, x, m, target, three), Multiply(decoded, x, m, target, one)))
          << kernels::TargetName(target) << " " << outputs << " outputs, " << m << " rows";
    }
  }
}

TEST_P(BlockFormats, Int8Products_HaveTheBitsOfTheFormula) {
  base::ThreadPool one(1), three(3);
  for (const auto& [outputs, blocks] : {std::pair{1, 1}, {15, 2}, {16, 1}, {17, 5}, {50, 9}, {130, 3}}) {
    const int64_t inputs = blocks * block(), m = 19;
    const Matrix matrix(GetParam(), outputs, inputs, 4);
    const Linear<float> linear(matrix.view(), {}, one, BlockArithmetic::kInt8);
    EXPECT_TRUE(linear.int8());
    std::vector<float> x = RandomRows(m * inputs, 9);
    x[3 * inputs + 5] = kNan;
    x[4 * inputs] = -kInfinity;
    std::fill_n(&x[5 * inputs], inputs, 0.0f);
    std::fill_n(&x[6 * inputs], inputs, 1e-38f);  // below what is rounded
    std::fill_n(&x[7 * inputs], 3, 3e38f);
    const std::vector<float> want = NaiveInt8(matrix.view(), x, m);
    for (const kernels::Target target : TargetsHere()) {
      for (const int64_t rows : {1, 2, 3, 7, 19}) {
        const std::vector<float> got = Multiply(linear, x, rows, target, rows % 2 == 0 ? one : three);
        for (int64_t i = 0; i < rows * outputs; ++i) {
          if (std::isnan(want[i]))
            ASSERT_TRUE(std::isnan(got[i]));
          else
            ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i]))
                << kernels::TargetName(target) << " " << outputs << " outputs, row " << i / outputs << " of " << rows
                << ", output " << i % outputs;
        }
      }
    }
    for (int64_t row = 0; row < m; ++row) EXPECT_EQ(std::isnan(want[row * outputs]), row == 3 || row == 4) << row;
  }
}

TEST_P(BlockFormats, RowsOfInt8Products_DoNotDependOnTheOthers) {
  const int64_t outputs = 70, inputs = 2048 + block(), m = 300;  // more than one stretch of inputs and block of rows
  base::ThreadPool one(1), three(3);
  const Matrix matrix(GetParam(), outputs, inputs, 5);
  const Linear<float> linear(matrix.view(), RandomRows(outputs, 8), one, BlockArithmetic::kInt8);
  const std::vector<float> x = RandomRows(m * inputs, 11);
  const kernels::Target best = kernels::ParseTarget("");
  const std::vector<float> all = Multiply(linear, x, m, best, three);
  for (const int64_t row : {0, 5, 255, 256, 299}) {
    const std::vector<float> alone =
        Multiply(linear, {x.begin() + row * inputs, x.begin() + (row + 1) * inputs}, 1, best, one);
    EXPECT_TRUE(SameBits(alone, {all.begin() + row * outputs, all.begin() + (row + 1) * outputs})) << row;
  }
  for (const kernels::Target target : TargetsHere()) {
    if (target == kernels::Target::kScalar) continue;
    EXPECT_TRUE(SameBits(Multiply(linear, x, m, target, one), all)) << kernels::TargetName(target);
  }
}

TEST_P(BlockFormats, Int8Products_AreCloseToTheFloatOnes) {
  const int64_t outputs = 64, inputs = 1024, m = 4;
  base::ThreadPool pool(1);
  const Matrix matrix(GetParam(), outputs, inputs, 6);
  const std::vector<float> x = RandomRows(m * inputs, 12);
  const kernels::Target best = kernels::ParseTarget("");
  const std::vector<float> exact = Multiply(Linear<float>(matrix.view(), {}, pool), x, m, best, pool);
  const std::vector<float> rounded =
      Multiply(Linear<float>(matrix.view(), {}, pool, BlockArithmetic::kInt8), x, m, best, pool);
  double error = 0, size = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    error += std::pow(rounded[i] - exact[i], 2);
    size += std::pow(exact[i], 2);
  }
  EXPECT_LT(std::sqrt(error / size), 0.01);
  EXPECT_GT(error, 0);
}

TEST_P(BlockFormats, PackedPanels_AreAboutAsLargeAsTheStoredBlocks) {
  const auto stored = static_cast<double>(numeric::FormatBytes(GetParam(), 1 << 16));
  const auto packed = static_cast<double>(PanelBytes(GetParam(), (1 << 16) / 16));
  EXPECT_LE(packed, 1.06 * stored);
}

TEST_P(BlockFormats, DoubleProducts_UseTheDecodedValues) {
  base::ThreadPool pool(2);
  const int64_t outputs = 20, inputs = 3 * block();
  const Matrix matrix(GetParam(), outputs, inputs, 7);
  const std::vector<float> rows = RandomRows(inputs, 13);
  const std::vector<double> x(rows.begin(), rows.end());
  const auto multiply = [&](const MatrixView& view) {
    std::vector<double> out(outputs);
    const Linear<double> linear(view, {}, pool, BlockArithmetic::kInt8);
    EXPECT_FALSE(linear.int8());
    RunAlone<double>({&linear, x.data(), inputs, out.data(), outputs}, 1,
                     Workshop<double>(kernels::ParseTarget(""), &pool));
    return out;
  };
  EXPECT_EQ(multiply(matrix.view()), multiply(matrix.Decoded()));
}

INSTANTIATE_TEST_SUITE_P(Every, BlockFormats, ::testing::ValuesIn(numeric::kBlockFormats),
                         [](const auto& info) { return std::string(numeric::FormatName(info.param)); });

// Products of one input in both arithmetics and in several formats, at once.
TEST(LinearBlocks, GroupsOfSeveralArithmetics_ComputeWhatEachComputesAlone) {
  const int64_t inputs = 512, m = 21;
  base::ThreadPool pool(3);
  const std::vector<float> x = RandomRows(m * inputs, 14), other = RandomRows(m * inputs, 15);
  const Matrix a(Format::kQ4_K, 48, inputs, 1), b(Format::kQ6_K, 17, inputs, 2), c(Format::kF16, 130, inputs, 3),
      d(Format::kQ8_0, 33, inputs, 4);
  std::vector<Linear<float>> linears;
  for (const Matrix* matrix : {&a, &b, &c, &d})
    linears.emplace_back(matrix->view(), std::vector<float>(), pool, BlockArithmetic::kInt8);
  std::vector<std::vector<float>> out(4);
  std::vector<LinearRun<float>> runs;
  for (int i = 0; i < 4; ++i) {
    out[i].resize(m * linears[i].outputs());
    runs.push_back({&linears[i], i == 3 ? other.data() : x.data(), inputs, out[i].data(), linears[i].outputs()});
  }
  const Workshop<float> workshop(kernels::ParseTarget(""), &pool);
  RunTogether<float>(runs, m, workshop);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(SameBits(out[i], Multiply(linears[i], i == 3 ? other : x, m, workshop.target, pool))) << i;
  }
}

}  // namespace
}  // namespace ekvi::model
