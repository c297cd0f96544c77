#include "bench/place.h"

#include <fmt/format.h>

#include "base/thread_pool.h"
#include "ekvi/error.h"

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

}  // namespace ekvi::bench
