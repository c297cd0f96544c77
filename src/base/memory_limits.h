// How much memory this process may still take, and who says so.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ekvi::base {

struct MemoryLimits {
  uint64_t total = 0;                 // of the machine; 0 where unknown
  std::optional<uint64_t> available;  // bytes, swap included; nothing where unknown
  std::string limited_by;             // "the machine" or "the cgroup's memory limit"
};

// `root` as in ReadCgroupLimits.
MemoryLimits ReadMemoryLimits(const std::filesystem::path& root = "/");

// The most memory this process had resident so far, in bytes; 0 where the system does not say.
uint64_t PeakResidentBytes();

}  // namespace ekvi::base
