// Goal: limits of cgroups, memory and cores are read as the kernel documents them. Method: invented /proc and /sys
// trees in a folder, and the real machine for plausibility.
#include "ekvi/machine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/cgroup.h"
#include "base/cpu.h"
#include "base/memory_limits.h"
#include "base/system_text.h"

namespace ekvi::base {
namespace {

namespace fs = std::filesystem;

// A root folder whose files a test invents.
class Machines : public ::testing::Test {
 protected:
  Machines() {
    std::string name = (fs::temp_directory_path() / "ekvi_machine_XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Machines() override { fs::remove_all(root_); }

  void Put(const fs::path& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

  fs::path root_;
};

constexpr char kVersion2Mount[] = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_F(Machines, NothingReadable_IsNoLimit) {
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_FALSE(limits.cores || limits.memory || limits.memory_available);
  const MemoryLimits memory = ReadMemoryLimits(root_);
  EXPECT_EQ(memory.total, 0u);
  EXPECT_FALSE(memory.available.has_value());
}

TEST_F(Machines, Version2_TakesTheTightestOfAllAncestors) {
  Put("proc/self/mountinfo", std::string("garbage\n22 1 0:1 / / rw - ext4 /dev/x rw\n") + kVersion2Mount);
  Put("proc/self/cgroup", "0::/outer/inner\n");
  Put("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  Put("sys/fs/cgroup/outer/memory.max", "1000000\n");
  Put("sys/fs/cgroup/outer/memory.current", "700000\n");
  Put("sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 200000\nactive_file 1\n");
  Put("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  Put("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.cores, 1.5);
  EXPECT_EQ(limits.memory, 1000000u);
  EXPECT_EQ(limits.memory_available, 500000u);
}

TEST_F(Machines, Version2InAContainer_ReadsTheMountPointThoughThePathIsTheHosts) {
  Put("proc/self/mountinfo", kVersion2Mount);
  Put("proc/self/cgroup", "0::/../../host/path\n");
  Put("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(ReadCgroupLimits(root_).cores, 4.0);
}

TEST_F(Machines, Version1_ReadsEachHierarchyBelowItsRoot) {
  Put("proc/self/mountinfo",
      "31 20 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
      "32 20 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  Put("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc/job\n1:name=systemd:/\n");
  Put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  Put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  Put("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  Put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000\n");
  Put("sys/fs/cgroup/memory/memory.usage_in_bytes", "3000000\n");
  Put("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 1500000\n");
  const CgroupLimits limits = ReadCgroupLimits(root_);
  EXPECT_EQ(limits.cores, 2.5);
  EXPECT_EQ(limits.memory, 2000000u);
  EXPECT_EQ(limits.memory_available, 500000u);
}

TEST_F(Machines, Version1Unlimited_IsNoLimit) {
  Put("proc/self/mountinfo", "32 20 0:28 / /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  Put("proc/self/cgroup", "5:memory:/\n");
  Put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(ReadCgroupLimits(root_).memory.has_value());
}

TEST_F(Machines, Memory_IsTheTighterOfMachineAndCgroup) {
  Put("proc/meminfo", "MemTotal:     1000 kB\nMemFree: 1 kB\nMemAvailable:   600 kB\nSwapFree:   50 kB\n");
  MemoryLimits limits = ReadMemoryLimits(root_);
  EXPECT_EQ(limits.total, 1000u * 1024);
  EXPECT_EQ(limits.available, 650u * 1024);
  EXPECT_EQ(limits.limited_by, "the machine");
  Put("proc/self/mountinfo", kVersion2Mount);
  Put("sys/fs/cgroup/memory.max", "4096\n");
  limits = ReadMemoryLimits(root_);
  EXPECT_EQ(limits.available, 4096u);
  EXPECT_EQ(limits.limited_by, "the cgroup's memory limit");
}

TEST(SystemText, Numbers_AreReadOrNothing) {
  EXPECT_EQ(LeadingNumber(" \t42 kB"), 42u);
  EXPECT_FALSE(LeadingNumber("max").has_value());
  EXPECT_FALSE(LeadingNumber("").has_value());
  EXPECT_FALSE(LeadingNumber("-1").has_value());
  EXPECT_FALSE(LeadingNumber("99999999999999999999999").has_value());
  EXPECT_EQ(NumberOfLine("ab 1\nabc 2\n", "abc "), 2u);
  EXPECT_FALSE(NumberOfLine("ab 1\n", "x").has_value());
}

TEST(SystemText, Fields_LeaveEmptyOnesOut) {
  EXPECT_EQ(SplitFields("/a//b/", '/'), (std::vector<std::string_view>{"a", "b"}));
  EXPECT_TRUE(SplitFields("", '/').empty());
}

TEST(DescribeMachine, ThisMachine_IsPlausible) {
  const Machine machine = DescribeMachine();
  EXPECT_GE(machine.cores_online, 1);
  EXPECT_GE(machine.cores_affinity, 1);
  EXPECT_GE(machine.threads, 1);
  EXPECT_LE(machine.threads, machine.cores_affinity);
  EXPECT_LE(machine.memory_available, machine.memory_bytes + (uint64_t{1} << 40));
  EXPECT_NE(std::string("always madvise never unknown").find(machine.huge_pages), std::string::npos);
}

TEST(DescribeMachine, Targets_AreBestFirstAndEndWithScalar) {
  const auto targets = DescribeMachine().targets;
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(targets.back(), "scalar");
  const auto has = [&](const char* name) { return std::find(targets.begin(), targets.end(), name) != targets.end(); };
  EXPECT_EQ(has("avx2"), CpuHasAvx2());
  EXPECT_EQ(has("avx2_vnni"), CpuHasAvxVnni() || CpuHasAvx512Vnni());
  EXPECT_EQ(has("avx512"), CpuHasAvx512());
  EXPECT_EQ(has("avx512_vnni"), CpuHasAvx512Vnni());
  EXPECT_TRUE(!has("avx2_vnni") || has("avx2"));
  EXPECT_TRUE(!has("avx512") || has("avx2"));
  EXPECT_TRUE(!has("avx512_vnni") || (has("avx512") && has("avx2_vnni")));
}

// The kernel's names; one that is older than the processor may not know a feature, but lists none that is not there.
TEST(Cpu, WhatTheSystemLists_IsDetected) {
  const auto features = DescribeMachine().features;
  const auto lists = [&](const char* name) {
    return std::find(features.begin(), features.end(), name) != features.end();
  };
  EXPECT_TRUE(!lists("avx_vnni") || CpuHasAvxVnni());
  EXPECT_TRUE(!lists("avx2") || !lists("fma") || !lists("f16c") || CpuHasAvx2());
  EXPECT_TRUE(!CpuHasAvxVnni() || CpuHasAvx2());
  EXPECT_TRUE(!CpuHasAvx512Vnni() || lists("avx512_vnni"));
}

}  // namespace
}  // namespace ekvi::base
