// Goal: ceilings are numbers that a machine can have, on every target and for any number of threads, and a share says
// which of them limits. Method: short measurements; nothing is asserted that a busy machine could break.
#include "bench/ceilings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "bench/place.h"
#include "ekvi/error.h"
#include "ekvi/machine.h"

namespace ekvi::bench {
namespace {

constexpr double kShort = 0.001;

TEST(Ceilings, OfEachTarget_ArePositiveAndNearMemoryIsNotSlow) {
  for (const std::string& target : DescribeMachine().targets) {
    const auto all = MeasureCeilings({.threads = {1, 2}, .target = target, .seconds = kShort}, {});
    ASSERT_EQ(all.size(), 2);
    for (const BenchCeilings& c : all) {
      EXPECT_EQ(c.target, target);
      EXPECT_EQ(c.threads, &c - all.data() + 1);
      for (const double value : {c.fma_f32_gflops, c.int8_gops, c.read_l2_gbps, c.read_l3_gbps, c.read_dram_gbps}) {
        EXPECT_TRUE(std::isfinite(value) && value > 0) << target;
      }
      EXPECT_GT(c.read_l2_gbps, c.read_dram_gbps / 4) << target;
    }
  }
}

TEST(Ceilings, OfMoreThreadsThanTheMemoryHasParts_StayInIt) {
  const auto all = MeasureCeilings({.threads = {3, 150}, .seconds = kShort}, {});
  EXPECT_EQ(all.back().threads, 150);
  EXPECT_GT(all.back().read_l3_gbps, 0);
}

TEST(Ceilings, OfARound_GrowWithThreads) {
  base::ThreadPool one(1), two(2);
  CeilingProbe alone(kernels::ParseTarget(""), one), both(kernels::ParseTarget(""), two);
  EXPECT_EQ(2 * alone.fma_operations(), both.fma_operations());
  EXPECT_EQ(2 * alone.int8_operations(), both.int8_operations());
  EXPECT_EQ(alone.read_bytes(), both.read_bytes());
}

TEST(Ceilings, Share_NamesWhatAllowsNoLess) {
  base::ThreadPool pool(1);
  CeilingProbe probe(kernels::ParseTarget(""), pool);
  const auto limit = [&](const Effort& effort) { return probe.Measure([] {}, effort, kShort).share.limit; };
  EXPECT_EQ(limit({.operations = 1e15, .bytes = 1}), "fma");
  EXPECT_EQ(limit({.operations = 1e15, .bytes = 1, .int8 = true}), "int8");
  EXPECT_EQ(limit({.operations = 1, .bytes = 1e15}), "read");
  EXPECT_EQ(limit({.operations = 1, .bytes = 1e15, .int8 = true}), "read");
}

TEST(Ceilings, Share_OfTheCeilingItselfIsOne) {
  base::ThreadPool pool(1);
  CeilingProbe probe(kernels::ParseTarget(""), pool);
  const auto timed = probe.Measure(probe.Fma().run, {.operations = probe.fma_operations()}, 0.05);
  EXPECT_EQ(timed.share.limit, "fma");
  EXPECT_GT(timed.share.share, 0);
}

TEST(Ceilings, NumbersOfThreadsOutsideTheRange_AreRefused) {
  for (const int threads : {0, -1, 1025}) {
    EXPECT_THROW(ThreadCounts({.threads = {1, threads}}), Error) << threads;
  }
  EXPECT_EQ(ThreadCounts({})[0], 1);
}

}  // namespace
}  // namespace ekvi::bench
