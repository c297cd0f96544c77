// Goal: a packed product is the matrix's, whatever its type and storage, with bits that depend on the row alone.
// Method: against loops in float64 on the stored values, and bytes compared over rows, threads, targets, groups and
// odd sizes.
#include "model/linear.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <string>

#include "base/fault.h"
#include "base/random.h"
#include "ekvi/error.h"
#include "numeric/block_testing.h"

namespace ekvi::model {
namespace {

using numeric::Format;

// [outputs, inputs] values and their stored form.
struct Stored {
  std::vector<std::byte> bytes;
  std::vector<double> values;
  MatrixView view;
};

Stored RandomMatrix(int64_t outputs, int64_t inputs, Format format, uint64_t seed) {
  base::Random random(seed);
  const auto count = static_cast<size_t>(outputs * inputs);
  const numeric::RandomValues stored(format, count, random);
  Stored s;
  s.bytes.assign(stored.data() - 1, stored.data() + numeric::FormatBytes(format, count));
  s.values.resize(count);
  const std::byte* const data = s.bytes.data() + 1;  // misaligned on purpose
  numeric::Decode(format, data, s.values.data(), count);
  s.view = {
      .name = "w", .format = format, .data = data, .stored_outputs = outputs, .outputs = outputs, .inputs = inputs};
  return s;
}

template <typename T>
std::vector<T> RandomRows(int64_t count, uint64_t seed) {
  base::Random random(seed);
  std::vector<T> rows(count);
  for (T& value : rows) value = static_cast<T>(random.Normal());
  return rows;
}

template <typename T>
std::vector<T> Multiply(const Linear<T>& linear, const std::vector<T>& x, int64_t m, kernels::Target target,
                        base::ThreadPool& pool) {
  std::vector<T> out(m * linear.outputs(), T(-77));
  RunAlone<T>({&linear, x.data(), linear.inputs(), out.data(), linear.outputs()}, m, Workshop<T>(target, &pool));
  return out;
}

double Naive(const Stored& s, const double* x, int64_t output) {
  double sum = 0;
  for (int64_t k = 0; k < s.view.inputs; ++k) sum += s.values[output * s.view.inputs + k] * x[k];
  return sum;
}

const Format kTypes[] = {Format::kF64, Format::kF32, Format::kF16, Format::kBF16, Format::kQ8_0};

template <typename T>
void ExpectProduct(int64_t outputs, int64_t inputs, Format format, double tolerance) {
  const Stored s = RandomMatrix(outputs, inputs, format, 3);
  const int64_t m = 5;
  const std::vector<double> x = RandomRows<double>(m * inputs, 4), bias = RandomRows<double>(outputs, 5);
  base::ThreadPool pool(2);
  const Linear<T> linear(s.view, std::vector<T>(bias.begin(), bias.end()), pool);
  const std::vector<T> out = Multiply<T>(linear, std::vector<T>(x.begin(), x.end()), m, kernels::ParseTarget(""), pool);
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t n = 0; n < outputs; ++n) {
      EXPECT_NEAR(out[row * outputs + n], Naive(s, &x[row * inputs], n) + bias[n], tolerance)
          << FormatName(format) << n;
    }
  }
}

TEST(Linear, EveryStoredType_GivesTheProductOfItsValues) {
  for (const Format format : kTypes) {
    for (const int64_t outputs : {1, 15, 16, 17, 50}) {
      ExpectProduct<double>(outputs, 96, format, 1e-12);
      ExpectProduct<float>(outputs, 96, format, 1e-4);
    }
    ExpectProduct<double>(9, 544, format, 1e-11);  // more than one stretch of inputs
  }
}

TEST(Linear, OddInputs_AreRead) {
  for (const int64_t inputs : {1, 7, 63, 65, 257}) {
    ExpectProduct<double>(18, inputs, Format::kF32, 1e-12);
    ExpectProduct<float>(18, inputs, Format::kF16, 1e-4);
  }
}

// One row alone on one scalar thread is the yardstick for every other way of computing it.
template <typename T>
void ExpectSameBits(Format format) {
  const int64_t outputs = 210, inputs = 288, m = 300;
  const Stored s = RandomMatrix(outputs, inputs, format, 6);
  const std::vector<T> x = RandomRows<T>(m * inputs, 7);
  base::ThreadPool one(1), three(3);
  const Linear<T> linear(s.view, RandomRows<T>(outputs, 8), one);
  std::vector<T> expected;
  for (int64_t row = 0; row < m; ++row) {
    const std::vector<T> alone = Multiply<T>(linear, {x.begin() + row * inputs, x.begin() + (row + 1) * inputs}, 1,
                                             kernels::Target::kScalar, one);
    expected.insert(expected.end(), alone.begin(), alone.end());
  }
  for (const kernels::Target target : kernels::kTargets) {
    if (!kernels::TargetAvailable(target)) continue;
    for (base::ThreadPool* pool : {&one, &three}) {
      for (const int64_t rows : {1, 2, 3, 4, 7, 17, 256, 300}) {
        const std::vector<T> out = Multiply<T>(linear, x, rows, target, *pool);
        EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0)
            << FormatName(format) << " " << kernels::TargetName(target) << " rows " << rows << " threads "
            << pool->threads();
      }
    }
  }
}

TEST(Linear, RowsThreadsAndTargets_ChangeNoBit) {
  for (const Format format : {Format::kF32, Format::kF16, Format::kBF16, Format::kQ8_0}) ExpectSameBits<float>(format);
  ExpectSameBits<double>(Format::kF64);
}

TEST(Linear, Groups_ComputeWhatEachComputesAlone) {
  const int64_t inputs = 64, m = 19;
  const std::vector<float> x = RandomRows<float>(m * inputs, 9);
  base::ThreadPool pool(3);
  std::vector<Stored> stored;
  std::vector<Linear<float>> linears;
  for (const int64_t outputs : {48, 17, 130}) {
    stored.push_back(RandomMatrix(outputs, inputs, stored.size() == 1 ? Format::kF16 : Format::kF32, outputs));
    linears.emplace_back(stored.back().view, std::vector<float>(), pool);
  }
  const Workshop<float> workshop(kernels::ParseTarget(""), &pool);
  std::vector<std::vector<float>> out(3);
  std::vector<LinearRun<float>> runs;
  for (int i = 0; i < 3; ++i) {
    out[i].resize(m * linears[i].outputs());
    runs.push_back({&linears[i], x.data(), inputs, out[i].data(), linears[i].outputs()});
  }
  RunTogether<float>(runs, m, workshop);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], Multiply<float>(linears[i], x, m, workshop.target, pool)) << i;
}

TEST(Linear, TransposedSlicedAndReorderedStorage_GiveTheSameMatrix) {
  const int64_t outputs = 37, inputs = 50;
  const Stored s = RandomMatrix(outputs, inputs, Format::kF32, 10);
  const std::vector<float> x = RandomRows<float>(inputs, 11);
  base::ThreadPool pool(1);
  const std::vector<float> expected =
      Multiply<float>(Linear<float>(s.view, {}, pool), x, 1, kernels::ParseTarget(""), pool);

  std::vector<float> turned(outputs * inputs);
  for (int64_t n = 0; n < outputs; ++n) {
    for (int64_t k = 0; k < inputs; ++k) turned[k * outputs + n] = static_cast<float>(s.values[n * inputs + k]);
  }
  MatrixView transposed = s.view;
  transposed.data = reinterpret_cast<const std::byte*>(turned.data());
  transposed.storage = MatrixStorage::kInputRows;
  EXPECT_EQ(Multiply<float>(Linear<float>(transposed, {}, pool), x, 1, kernels::ParseTarget(""), pool), expected);

  for (MatrixView slice : {s.view, transposed}) {
    slice.first_output = 11;
    slice.outputs = 20;
    EXPECT_EQ(Multiply<float>(Linear<float>(slice, {}, pool), x, 1, kernels::ParseTarget(""), pool),
              std::vector<float>(expected.begin() + 11, expected.begin() + 31));
  }
  std::vector<int32_t> backwards(outputs);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  MatrixView reordered = s.view;
  reordered.output_order = backwards;
  EXPECT_EQ(Multiply<float>(Linear<float>(reordered, {}, pool), x, 1, kernels::ParseTarget(""), pool),
            std::vector<float>(expected.rbegin(), expected.rend()));
}

TEST(Linear, ValueThatIsNotFinite_IsRefusedWithItsPlace) {
  base::ThreadPool pool(2);
  for (const Format format : kTypes) {
    Stored s = RandomMatrix(20, 96, format, 12);
    auto* const data = const_cast<std::byte*>(s.view.data);
    if (format == Format::kQ8_0) {
      const uint16_t nan = 0x7E00;
      std::memcpy(data + (17 * 3 + 1) * 34, &nan, 2);  // the scale of inputs 32 … 63 of output 17
    } else {
      const double nan = NAN, infinity = INFINITY;
      const size_t size = numeric::FormatBytes(format, 1);
      numeric::Narrow(*numeric::PlainType(format), &nan, data + (17 * 96 + 32) * size, 1);
      numeric::Narrow(*numeric::PlainType(format), &infinity, data + (18 * 96) * size, 1);
    }
    try {
      const Linear<float> linear(s.view, {}, pool);
      ADD_FAILURE() << "not refused: " << FormatName(format);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
      const std::string text = error.what();
      EXPECT_NE(text.find("tensor w"), std::string::npos) << text;
      EXPECT_NE(text.find("output 17, input 32 of 20 × 96"), std::string::npos) << text;
    }
  }
}

TEST(Linear, DoubleWeightsPastFloatsRange_AreRefusedInFloatAndTakenInDouble) {
  const double huge = 1e300;
  const MatrixView view{.name = "w",
                        .format = Format::kF64,
                        .data = reinterpret_cast<const std::byte*>(&huge),
                        .stored_outputs = 1,
                        .outputs = 1,
                        .inputs = 1};
  base::ThreadPool pool(1);
  EXPECT_THROW(Linear<float>(view, {}, pool), Error);
  EXPECT_NO_THROW(Linear<double>(view, {}, pool));
}

TEST(Linear, Faults_ChangeTheOutput) {
  const Stored s = RandomMatrix(40, 64, Format::kF32, 13);
  const std::vector<float> x = RandomRows<float>(64, 14);
  base::ThreadPool one(1), two(2);
  const Linear<float> linear(s.view, {}, one);
  const std::vector<float> right = Multiply<float>(linear, x, 1, kernels::Target::kScalar, one);
  {
    const base::ScopedFault fault(base::Fault::kThreadTail);
    EXPECT_EQ(Multiply<float>(linear, x, 1, kernels::Target::kScalar, one), right);
    EXPECT_NE(Multiply<float>(linear, x, 1, kernels::Target::kScalar, two), right);
  }
  const base::ScopedFault fault(base::Fault::kTargetRounding);
  EXPECT_EQ(Multiply<float>(linear, x, 1, kernels::Target::kScalar, one), right);
  if (kernels::TargetAvailable(kernels::Target::kAvx2)) {
    EXPECT_NE(Multiply<float>(linear, x, 1, kernels::Target::kAvx2, one), right);
  }
}

// Of the arena's memory and of memory of its own: what to try is about models, not about caches.
TEST(Linear, MemoryThatIsNotAvailable_IsRefusedWithWhatHelps) {
  base::MemoryTerms terms = kWeightTerms;
  terms.limits = [] { return base::MemoryLimits{.total = 0, .available = 1, .limited_by = "the test"}; };
  base::ThreadPool pool(1);
  base::Arena arena(terms);
  for (const int64_t outputs : {16, 4096}) {  // in a stretch, and as large as one
    const Stored matrix = RandomMatrix(outputs, 1024, Format::kF32, 1);
    try {
      const Linear<float> linear(matrix.view, {}, pool, BlockArithmetic::kFloat, &arena);
      ADD_FAILURE() << "memory that is not available was given";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCapacity);
      EXPECT_TRUE(error.summary().starts_with("not enough memory for packed weights of ")) << error.what();
      EXPECT_NE(error.numbers().find("available now: 1 bytes"), std::string::npos) << error.what();
      EXPECT_TRUE(error.hint().starts_with("a smaller model, one quantized to fewer bits")) << error.what();
    }
  }
}

}  // namespace
}  // namespace ekvi::model
