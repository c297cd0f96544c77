// The findings of `ekvi doctor`, in words.
#pragma once

#include <string>
#include <vector>

#include "ekvi/machine.h"

namespace ekvi::cli {

// "avx512"; "scalar" where the machine names none.
std::string BestTarget(const Machine& machine);
// "all 8 cores", "affinity allows 2 of 8 cores", "the cgroup quota of 1.5 cores, rounded down".
std::string ThreadsReason(const Machine& machine);
// What costs speed here and can be changed, a sentence each.
std::vector<std::string> Warnings(const Machine& machine);
// Aligned lines, the warnings after them.
std::string DoctorText(const Machine& machine);

}  // namespace ekvi::cli
