#include "ekvi/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/memory_limits.h"
#include "base/system_text.h"
#include "base/thread_pool.h"

namespace ekvi {
namespace {

using base::CgroupLimits;
using base::ReadSystemText;
using base::SplitFields;

// A mask of 1024 CPUs is too small for the largest machines: the call then fails, and a larger one is tried.
int AffinityCores() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* const set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    const int count = known ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (known) return std::max(count, 1);
  }
  return 1;
}

int Threads(int affinity, const CgroupLimits& limits) {
  if (!limits.cores) return affinity;
  return std::max(1, static_cast<int>(std::min<double>(affinity, *limits.cores)));
}

// The value of the first line "key\t: value".
std::string_view CpuInfo(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitFields(text, '\n')) {
    const size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string_view::npos) return line.substr(colon + 2);
  }
  return "";
}

std::vector<std::string> Features(std::string_view flags) {
  static constexpr std::string_view kLookedAt[] = {
      "avx",      "avx2",        "fma",         "f16c",     "avx512f",     "avx512bw", "avx512dq",
      "avx512vl", "avx512_vnni", "avx512_bf16", "avx_vnni", "avx512_fp16", "amx_int8", "amx_bf16",
      "asimd",    "asimdhp",     "asimddp",     "bf16",     "i8mm",        "sve",      "sve2"};
  std::vector<std::string> present;
  const auto all = SplitFields(flags, ' ');
  for (const std::string_view feature : kLookedAt) {
    if (std::find(all.begin(), all.end(), feature) != all.end()) present.emplace_back(feature);
  }
  return present;
}

std::vector<std::string> Targets() {
  std::vector<std::string> targets;
  if (base::CpuHasAvx512Vnni()) targets.push_back("avx512_vnni");
  if (base::CpuHasAvx512()) targets.push_back("avx512");
  if (base::CpuHasAvx2()) targets.push_back("avx2");
  targets.push_back("scalar");
  return targets;
}

// "always [madvise] never": the one in brackets is in force.
std::string HugePages() {
  const std::string text = ReadSystemText("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  const size_t open = text.find('[');
  const size_t close = text.find(']', open);
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

Machine DescribeMachine() {
  const std::string cpuinfo = ReadSystemText("/proc/cpuinfo").value_or("");
  const CgroupLimits cgroup = base::ReadCgroupLimits();
  const base::MemoryLimits memory = base::ReadMemoryLimits();
  Machine machine;
  machine.cpu = CpuInfo(cpuinfo, "model name");
  machine.cores_online = std::max(1, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  machine.cores_affinity = AffinityCores();
  machine.cores_quota = cgroup.cores.value_or(0);
  machine.threads = Threads(machine.cores_affinity, cgroup);
  machine.memory_bytes = memory.total;
  machine.memory_available = memory.available.value_or(0);
  machine.huge_pages = HugePages();
  machine.targets = Targets();
  const std::string_view flags = CpuInfo(cpuinfo, "flags");
  machine.features = Features(flags.empty() ? CpuInfo(cpuinfo, "Features") : flags);
  return machine;
}

int base::GrantedThreads() { return Threads(AffinityCores(), ReadCgroupLimits()); }

}  // namespace ekvi
