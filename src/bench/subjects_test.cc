// Goal: no kernel is timed whose result is wrong. Method: subjects of every format and arithmetic check themselves on
// every target; then with a fault in force, which the check has to see.
#include <gtest/gtest.h>

#include "base/fault.h"
#include "bench/attention_subject.h"
#include "bench/product_subject.h"
#include "ekvi/bench.h"
#include "ekvi/error.h"
#include "ekvi/machine.h"
#include "numeric/block_testing.h"

namespace ekvi::bench {
namespace {

using base::Fault;
using base::ScopedFault;
using model::BlockArithmetic;
using numeric::Format;

constexpr size_t kTwoCopies = 1 << 17;  // or a few

ErrorCode CodeOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_FALSE(error.numbers().empty()) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::kCancelled;
}

class EachTarget : public ::testing::TestWithParam<std::string> {
 protected:
  base::ThreadPool pool_{2};
  Place place_{kernels::ParseTarget(GetParam()), &pool_};
};

TEST_P(EachTarget, Products_AreRightInEveryFormat) {
  std::vector<Format> formats(std::begin(numeric::kBlockFormats), std::end(numeric::kBlockFormats));
  formats.insert(formats.end(), {Format::kF32, Format::kF16, Format::kBF16});
  for (const Format format : formats) {
    for (const int64_t m : {1, 8, 20}) {
      for (const BlockArithmetic arithmetic : {BlockArithmetic::kInt8, BlockArithmetic::kFloat}) {
        if (arithmetic == BlockArithmetic::kInt8 && !numeric::IsBlocks(format)) continue;
        const auto subject = MakeProductSubject({m, 150, 512}, format, arithmetic, place_, kTwoCopies);
        EXPECT_NO_THROW(subject->Check()) << numeric::FormatName(format) << " m " << m;
        EXPECT_EQ(subject->operations(), 2.0 * static_cast<double>(m) * 150 * 512);
        EXPECT_GE(subject->bytes(), 150.0 * static_cast<double>(numeric::FormatBytes(format, 512)) / 2);
      }
    }
  }
}

TEST_P(EachTarget, Attention_IsRightInEveryType) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (const AttentionShape& shape :
         {AttentionShape{8, 2, 64, {300}, 40}, AttentionShape{6, 2, 32, {0}, 9}, AttentionShape{4, 4, 64, {700}, 1},
          AttentionShape{6, 2, 64, {3, 600, 90}, 1}}) {
      EXPECT_NO_THROW(MakeAttentionSubject(shape, dtype, place_)->Check()) << DTypeName(dtype);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Subjects, EachTarget, ::testing::ValuesIn(DescribeMachine().targets),
                         [](const auto& info) { return info.param; });

TEST(Subjects, AWrongProduct_IsSeen) {
  base::ThreadPool pool(2);
  for (const auto arithmetic : {BlockArithmetic::kInt8, BlockArithmetic::kFloat}) {
    for (const int64_t m : {1, 8}) {
      const auto subject =
          MakeProductSubject({m, 150, 512}, Format::kQ8_0, arithmetic, {kernels::ParseTarget(""), &pool}, kTwoCopies);
      const ScopedFault fault(Fault::kThreadTail);
      EXPECT_EQ(CodeOf([&] { subject->Check(); }), ErrorCode::kCorrupt);
    }
  }
}

TEST(Subjects, WrongAttention_IsSeen) {
  base::ThreadPool pool(2);
  const Place place{kernels::ParseTarget(""), &pool};
  const struct {
    Fault fault;
    AttentionShape shape;
  } cases[] = {{Fault::kMaskOffByOne, {8, 2, 64, {20}, 5}},
               {Fault::kStaleBlock, {8, 2, 64, {100}, 1}},
               {Fault::kSwappedHeads, {8, 2, 64, {100}, 1}},
               {Fault::kNeighbourRow, {8, 2, 64, {80, 50}, 1}}};
  for (const auto& [fault, shape] : cases) {
    for (const DType dtype : {DType::kF32, DType::kF16}) {
      const auto subject = MakeAttentionSubject(shape, dtype, place);
      subject->Check();
      const ScopedFault in_force(fault);
      EXPECT_EQ(CodeOf([&] { subject->Check(); }), ErrorCode::kCorrupt) << "fault " << static_cast<int>(fault);
    }
  }
}

TEST(Subjects, AWrongResult_EndsTheMeasurement) {
  const ScopedFault fault(Fault::kThreadTail);
  int rows = 0;
  const BenchWatch watch{.on_kernel = [&](const KernelMeasurement&) { ++rows; }};
  const BenchOptions options{.threads = {2}, .filter = "q8_0 int8 m 8 n 1536", .seconds = 0.001};
  EXPECT_EQ(CodeOf([&] { BenchKernels(options, watch); }), ErrorCode::kCorrupt);
  EXPECT_EQ(rows, 0);
}

}  // namespace
}  // namespace ekvi::bench
