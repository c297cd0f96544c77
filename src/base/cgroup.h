// What the control groups of this process allow it: cores and memory. Versions 1 and 2, also mixed; the tightest of a
// group and all its ancestors that can be seen.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace ekvi::base {

struct CgroupLimits {
  std::optional<double> cores;               // CPU time per time
  std::optional<uint64_t> memory;            // bytes
  std::optional<uint64_t> memory_available;  // limit − use, where file pages that can be dropped do not count as used
};

// `root` stands for "/" (tests give a folder with a /proc and a /sys of their own). What cannot be read is no limit.
CgroupLimits ReadCgroupLimits(const std::filesystem::path& root = "/");

}  // namespace ekvi::base
