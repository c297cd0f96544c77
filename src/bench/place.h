// Where measurements run: what the options ask for, checked.
#pragma once

#include <vector>

#include "ekvi/bench.h"

namespace ekvi::bench {

// Error(kInvalidArgument) for a number of threads outside 1 … 1,024.
std::vector<int> ThreadCounts(const BenchOptions& options);

}  // namespace ekvi::bench
