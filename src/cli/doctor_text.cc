#include "cli/doctor_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "cli/format.h"
#include "cli/report.h"
#include "cli/table.h"

namespace ekvi::cli {
namespace {

std::string Cores(const Machine& machine) {
  const std::string quota =
      machine.cores_quota > 0 ? fmt::format("cgroup quota {}", Rate(machine.cores_quota)) : "no cgroup quota";
  return fmt::format("{} online, {} by affinity, {}", machine.cores_online, machine.cores_affinity, quota);
}

std::string Memory(const Machine& machine) {
  if (machine.memory_bytes == 0) return "unknown";
  if (machine.memory_available == 0) return Bytes(machine.memory_bytes);
  return fmt::format("{}, {} available", Bytes(machine.memory_bytes), Bytes(machine.memory_available));
}

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : Printable(text); }

}  // namespace

std::string BestTarget(const Machine& machine) { return machine.targets.empty() ? "scalar" : machine.targets.front(); }

std::string ThreadsReason(const Machine& machine) {
  if (machine.cores_quota > 0 && machine.cores_quota < machine.cores_affinity) {
    return fmt::format("the cgroup quota of {} cores, rounded down{}", Number(machine.cores_quota),
                       machine.cores_quota < 1 ? " but at least 1" : "");
  }
  if (machine.cores_affinity < machine.cores_online) {
    return fmt::format("affinity allows {} of {} cores", machine.cores_affinity, machine.cores_online);
  }
  return machine.cores_online == 1 ? "the only core" : fmt::format("all {} cores", machine.cores_online);
}

std::vector<std::string> Warnings(const Machine& machine) {
  std::vector<std::string> warnings;
  if (BestTarget(machine) == "scalar") {
    warnings.push_back("no AVX2 with FMA: scalar code is exact and very slow");
  }
  if (machine.huge_pages == "never") {
    warnings.push_back(
        "transparent huge pages are off: caches of many MiB pay for it; "
        "'madvise' in /sys/kernel/mm/transparent_hugepage/enabled is enough");
  }
  if (machine.cores_quota > 0 && machine.cores_quota < machine.cores_affinity &&
      machine.cores_quota != std::floor(machine.cores_quota)) {
    warnings.push_back(
        fmt::format("of the quota of {} cores a part stays idle: threads are whole", Number(machine.cores_quota)));
  }
  return warnings;
}

std::string DoctorText(const Machine& machine) {
  Table table;
  table.Add({"ekvi", fmt::format("{}, {}", Version(), Build())});
  table.Add({"cpu", OrUnknown(machine.cpu)});
  table.Add({"features", OrUnknown(fmt::format("{}", fmt::join(machine.features, " ")))});
  table.Add({"target", fmt::format("{} (of {})", BestTarget(machine), fmt::join(machine.targets, ", "))});
  table.Add({"cores", Cores(machine)});
  table.Add({"threads", fmt::format("{}: {}", machine.threads, ThreadsReason(machine))});
  table.Add({"memory", Memory(machine)});
  table.Add({"huge pages", OrUnknown(machine.huge_pages)});
  std::string text = table.Render();
  for (const std::string& warning : Warnings(machine)) text += fmt::format("note: {}\n", warning);
  return text;
}

}  // namespace ekvi::cli
