// /proc/self/mountinfo says where each hierarchy is mounted and which group is its root there; /proc/self/cgroup says
// the process's group in each. In a container the two may not fit (the group's path belongs to the host): then as much
// of the path as exists below the mount point is walked, and the mount point itself in any case.
#include "base/cgroup.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/system_text.h"

namespace ekvi::base {
namespace {

namespace fs = std::filesystem;

// Version 1 writes "no limit" as the largest multiple of the page size.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;

struct Mount {
  std::string_view root, point, type, options;
};

// Fields of a line: id, parent, device, root, mount point, options, optional fields, "-", type, source, super options.
std::optional<Mount> ParseMount(std::string_view line) {
  const size_t dash = line.find(" - ");
  if (dash == std::string_view::npos) return std::nullopt;
  const auto before = SplitFields(line.substr(0, dash), ' ');
  const auto after = SplitFields(line.substr(dash + 3), ' ');
  if (before.size() < 5 || after.empty()) return std::nullopt;
  return Mount{before[3], before[4], after[0], after.back()};
}

bool HasOption(std::string_view list, std::string_view option) {
  const auto options = SplitFields(list, ',');
  return std::find(options.begin(), options.end(), option) != options.end();
}

// The process's group in the hierarchy of `controller`; "" names version 2.
std::string_view GroupOf(std::string_view cgroup_text, std::string_view controller) {
  for (const std::string_view line : SplitFields(cgroup_text, '\n')) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers == controller || HasOption(controllers, controller)) return line.substr(second + 1);
  }
  return "/";
}

// The folders of the group and of its ancestors up to the mount point.
std::vector<fs::path> GroupFolders(const fs::path& root, const Mount& mount, std::string_view group) {
  if (mount.root != "/" && group.starts_with(mount.root)) group.remove_prefix(mount.root.size());
  fs::path folder = root / fs::path(mount.point).relative_path();
  std::vector<fs::path> folders = {folder};
  for (const std::string_view part : SplitFields(group, '/')) {
    folder /= part;
    std::error_code ignored;
    if (part == ".." || !fs::is_directory(folder, ignored)) break;
    folders.push_back(folder);
  }
  return folders;
}

template <typename T>
void Tighten(std::optional<T>& limit, T other) {
  limit = limit ? std::min(*limit, other) : other;
}

void AddMemory(CgroupLimits& limits, const fs::path& folder, const char* limit_name, const char* usage_name,
               std::string_view droppable_key) {
  const auto limit = LeadingNumber(ReadSystemText(folder / limit_name).value_or(""));
  if (!limit || *limit >= kNoLimit) return;
  Tighten(limits.memory, *limit);
  const uint64_t usage = LeadingNumber(ReadSystemText(folder / usage_name).value_or("")).value_or(0);
  const uint64_t droppable =
      NumberOfLine(ReadSystemText(folder / "memory.stat").value_or(""), droppable_key).value_or(0);
  const uint64_t used = usage - std::min(usage, droppable);
  Tighten(limits.memory_available, *limit - std::min(*limit, used));
}

void AddCores(CgroupLimits& limits, std::optional<uint64_t> quota, std::optional<uint64_t> period) {
  if (quota && period && *period > 0) Tighten(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

void AddVersion2(CgroupLimits& limits, const fs::path& folder) {
  const std::string cpu = ReadSystemText(folder / "cpu.max").value_or("");
  const auto fields = SplitFields(cpu, ' ');
  if (fields.size() == 2) AddCores(limits, LeadingNumber(fields[0]), LeadingNumber(fields[1]));
  AddMemory(limits, folder, "memory.max", "memory.current", "inactive_file ");
}

void AddVersion1Cpu(CgroupLimits& limits, const fs::path& folder) {
  AddCores(limits, LeadingNumber(ReadSystemText(folder / "cpu.cfs_quota_us").value_or("")),
           LeadingNumber(ReadSystemText(folder / "cpu.cfs_period_us").value_or("")));
}

void AddVersion1Memory(CgroupLimits& limits, const fs::path& folder) {
  AddMemory(limits, folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
}

}  // namespace

CgroupLimits ReadCgroupLimits(const fs::path& root) {
  CgroupLimits limits;
  const std::string groups = ReadSystemText(root / "proc/self/cgroup").value_or("");
  const std::string mounts = ReadSystemText(root / "proc/self/mountinfo").value_or("");
  const auto add = [&](const Mount& mount, std::string_view controller, auto add_folder) {
    for (const fs::path& folder : GroupFolders(root, mount, GroupOf(groups, controller))) add_folder(limits, folder);
  };
  for (const std::string_view line : SplitFields(mounts, '\n')) {
    const auto mount = ParseMount(line);
    if (!mount) continue;
    if (mount->type == "cgroup2") add(*mount, "", AddVersion2);
    if (mount->type == "cgroup" && HasOption(mount->options, "cpu")) add(*mount, "cpu", AddVersion1Cpu);
    if (mount->type == "cgroup" && HasOption(mount->options, "memory")) add(*mount, "memory", AddVersion1Memory);
  }
  return limits;
}

}  // namespace ekvi::base
