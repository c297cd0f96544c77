// Goal: works take turns, what is timed is the run alone, and the summary is the numbers it says. Method: works that
// note their calls, and summaries of known seconds; no time is asserted but that sleeping takes no processor time.
#include "bench/rounds.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <string>
#include <thread>

namespace ekvi::bench {
namespace {

TEST(Rounds, Works_TakeTurnsWithWhatComesBeforeThem) {
  std::string calls;
  const Work works[] = {{[&] { calls += 'a'; }}, {[&] { calls += 'b'; }, [&] { calls += '('; }}};
  const std::vector<Timing> timings = InRounds(works, {.seconds = 0, .rounds_min = 3});
  EXPECT_EQ(timings.size(), 2);
  EXPECT_EQ(calls, "a(ba(ba(ba(b") << "one round that is not timed, then three";
}

TEST(Rounds, Seconds_MakeMoreRounds) {
  int runs = 0;
  const Work work{[&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }};
  InRounds({&work, 1}, {.seconds = 0.05, .rounds_min = 1});
  EXPECT_GE(runs, 2);
}

TEST(Rounds, OwnTime_LeavesOutWhatTheThreadWaitsFor) {
  const Work work{[] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }};
  const auto own = InRounds({&work, 1}, {.stopwatch = Stopwatch::kOwn, .seconds = 0});
  const auto wall = InRounds({&work, 1}, {.stopwatch = Stopwatch::kWall, .seconds = 0});
  EXPECT_LT(own[0].seconds, 0.02);
  EXPECT_GE(wall[0].seconds, 0.02);
  EXPECT_EQ(StopwatchFor(1), Stopwatch::kOwn);
  EXPECT_EQ(StopwatchFor(2), Stopwatch::kWall);
}

TEST(Rounds, Summary_IsMedianAndSpreadWithoutTheTenthAtEitherEnd) {
  EXPECT_EQ(Summary({3}).seconds, 3);
  EXPECT_EQ(Summary({3}).spread, 0);
  EXPECT_EQ(Summary({5, 1, 3}).seconds, 3);
  EXPECT_DOUBLE_EQ(Summary({5, 1, 3}).spread, 4.0 / 3);
  std::vector<double> twenty(20);
  std::iota(twenty.begin(), twenty.end(), 1);
  twenty[0] = 1e-6;
  twenty[19] = 1e6;
  EXPECT_EQ(Summary(twenty).seconds, 11);
  EXPECT_DOUBLE_EQ(Summary(twenty).spread, (18.0 - 3) / 11);
}

}  // namespace
}  // namespace ekvi::bench
