// What this machine grants the process: cores, memory, vector instructions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ekvi {

struct Machine {
  std::string cpu;  // model name
  int cores_online = 1;
  int cores_affinity = 1;             // cores this process may run on
  double cores_quota = 0;             // cgroup limit in cores, 0: none
  int threads = 1;                    // min(affinity, quota rounded down), at least 1
  uint64_t memory_bytes = 0;          // of the machine
  uint64_t memory_available = 0;      // cgroup limit considered
  std::string huge_pages;             // "always", "madvise", "never", "unknown"
  std::vector<std::string> targets;   // vector targets that can run here, best first: "avx512_vnni", "avx512" …
  std::vector<std::string> features;  // CPU features ekvi looks at that are present
};

// Reads /proc, /sys and cpuid; never fails: what cannot be read keeps its default.
Machine DescribeMachine();

}  // namespace ekvi
