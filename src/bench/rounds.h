// Timing several works in turns.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace ekvi::bench {

// Median seconds of a work, and (slowest − fastest) / median without the tenth at either end.
struct Timing {
  double seconds = 0, spread = 0;
};

struct Work {
  std::function<void()> run;
  std::function<void()> before = {};  // untimed, ahead of every run
};

// kOwn: the processor time of the calling thread, which neighbours do not lengthen. kWall: the clock.
enum class Stopwatch { kOwn, kWall };
// The calling thread's own time says all only where it works alone.
constexpr Stopwatch StopwatchFor(int threads) { return threads == 1 ? Stopwatch::kOwn : Stopwatch::kWall; }

struct RoundsPlan {
  Stopwatch stopwatch = Stopwatch::kWall;
  double seconds = 0.4;  // for all rounds together,
  int rounds_min = 5;    // but at least so many
};

// Runs the works in turns, one untimed round first.
std::vector<Timing> InRounds(std::span<const Work> works, const RoundsPlan& plan);

// Of the seconds of each round, at least one.
Timing Summary(std::vector<double> seconds);

}  // namespace ekvi::bench
