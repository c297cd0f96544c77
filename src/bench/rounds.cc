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

}  // namespace

Timing Summary(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const size_t cut = seconds.size() / 10;
  const double median = seconds[seconds.size() / 2];
  return {median, (seconds[seconds.size() - 1 - cut] - seconds[cut]) / median};
}

std::vector<Timing> InRounds(std::span<const Work> works, const RoundsPlan& plan) {
  const clockid_t clock = plan.stopwatch == Stopwatch::kOwn ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  const auto timed = [clock](const Work& work) {
    if (work.before) work.before();
    const double begin = Now(clock);
    work.run();
    return Now(clock) - begin;
  };
  for (const Work& work : works) timed(work);
  std::vector<std::vector<double>> seconds(works.size());
  const double end = Now(CLOCK_MONOTONIC) + plan.seconds;
  for (int round = 0; round < plan.rounds_min || Now(CLOCK_MONOTONIC) < end; ++round) {
    for (size_t i = 0; i < works.size(); ++i) seconds[i].push_back(timed(works[i]));
  }
  std::vector<Timing> timings;
  for (auto& of_work : seconds) timings.push_back(Summary(std::move(of_work)));
  return timings;
}

}  // namespace ekvi::bench
