#include "base/memory_limits.h"

#include "base/cgroup.h"
#include "base/system_text.h"

namespace ekvi::base {

MemoryLimits ReadMemoryLimits(const std::filesystem::path& root) {
  const std::string text = ReadSystemText(root / "proc/meminfo").value_or("");
  const auto bytes = [&](std::string_view key) -> std::optional<uint64_t> {
    const auto kib = NumberOfLine(text, key);
    return kib ? std::optional(*kib * 1024) : std::nullopt;
  };
  MemoryLimits limits{.total = bytes("MemTotal:").value_or(0), .available = bytes("MemAvailable:"), .limited_by = ""};
  if (limits.available) {
    *limits.available += bytes("SwapFree:").value_or(0);
    limits.limited_by = "the machine";
  }
  const auto cgroup = ReadCgroupLimits(root).memory_available;
  if (cgroup && (!limits.available || *cgroup < *limits.available)) {
    limits.available = cgroup;
    limits.limited_by = "the cgroup's memory limit";
  }
  return limits;
}

uint64_t PeakResidentBytes() {
  const auto kib = NumberOfLine(ReadSystemText("/proc/self/status").value_or(""), "VmHWM:");
  return kib ? *kib * 1024 : 0;
}

}  // namespace ekvi::base
