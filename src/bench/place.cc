#include "bench/place.h"

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "bench/ceilings.h"
#include "ekvi/error.h"
#include "kernels/kernels.h"

namespace ekvi::bench {

std::vector<int> ThreadCounts(const BenchOptions& options) {
  constexpr int kMost = 1024;
  std::vector<int> counts = options.threads;
  if (counts.empty()) {
    counts = {1};
    if (base::GrantedThreads() > 1) counts.push_back(base::GrantedThreads());
  }
  for (const int threads : counts) {
    if (threads >= 1 && threads <= kMost) continue;
    throw Error(ErrorCode::kInvalidArgument, "the number of threads is out of range",
                fmt::format("{} threads; 1 to {} are possible", threads, kMost), "leave it out for 1 and all");
  }
  return counts;
}

std::vector<BenchCeilings> MeasureCeilings(const BenchOptions& options, const BenchWatch& watch) {
  const auto counts = ThreadCounts(options);
  std::vector<BenchCeilings> all;
  for (const int threads : counts) {
    if (watch.on_begin)
      watch.on_begin("ceilings", static_cast<int64_t>(all.size()), static_cast<int64_t>(counts.size()));
    base::ThreadPool pool(threads);
    all.push_back(CeilingProbe(kernels::ParseTarget(options.target), pool).MeasureAll(options.seconds));
    if (watch.on_ceilings) watch.on_ceilings(all.back());
  }
  return all;
}

}  // namespace ekvi::bench
