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

struct RoundsPlan {
  int threads = 1;       // 1: the caller's processor time, which neighbours do not lengthen; more: the clock
  double seconds = 0.4;  // for all rounds together,
  int rounds_min = 5;    // but at least so many
};

// Runs the works in turns, one untimed round first.
std::vector<Timing> InRounds(std::span<const std::function<void()>> works, const RoundsPlan& plan);

}  // namespace ekvi::bench
