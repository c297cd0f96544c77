#include "bench/rounds.h"

#include <time.h>

#include <algorithm>

namespace ekvi::bench {
namespace {

double Now(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Timing Summary(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  const size_t cut = times.size() / 10;
  const double median = times[times.size() / 2];
  return {median, (times[times.size() - 1 - cut] - times[cut]) / median};
}

}  // namespace

std::vector<Timing> InRounds(std::span<const std::function<void()>> works, const RoundsPlan& plan) {
  const clockid_t clock = plan.threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  for (const auto& work : works) work();
  std::vector<std::vector<double>> times(works.size());
  const double end = Now(CLOCK_MONOTONIC) + plan.seconds;
  for (int round = 0; round < plan.rounds_min || Now(CLOCK_MONOTONIC) < end; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      const double begin = Now(clock);
      works[i]();
      times[i].push_back(Now(clock) - begin);
    }
  }
  std::vector<Timing> timings;
  for (auto& of_work : times) timings.push_back(Summary(of_work));
  return timings;
}

}  // namespace ekvi::bench
