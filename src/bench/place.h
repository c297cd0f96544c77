// Where measurements run: what the options ask for, checked, and the ceilings there.
#pragma once

#include <vector>

#include "ekvi/bench.h"

namespace ekvi::bench {

// Error(kInvalidArgument) for a number of threads outside 1 … 1,024.
std::vector<int> ThreadCounts(const BenchOptions& options);

// The ceilings for each of these numbers of threads, told to the watch as they come.
std::vector<BenchCeilings> MeasureCeilings(const BenchOptions& options, const BenchWatch& watch);

}  // namespace ekvi::bench
