#include "base/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ekvi::base {
namespace {

#if defined(__x86_64__)

bool DetectF16c() {
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

// The built-in answers "avx…" only if XGETBV says that the system saves the registers.
bool DetectAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && DetectF16c(); }

bool DetectAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool DetectVnni() { return __builtin_cpu_supports("avx512vnni"); }

// By hand: not every compiler's built-in knows the name. Leaf 7 says in EAX of its first part how many more it has.
bool DetectAvxVnni() {
  constexpr unsigned kAvxVnni = 1u << 4;
  unsigned a, b, c, d;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || a < 1) return false;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & kAvxVnni) != 0;
}

#else

bool DetectVnni() { return false; }
bool DetectAvxVnni() { return false; }
bool DetectAvx2() { return false; }
bool DetectAvx512() { return false; }

#endif

}  // namespace

bool CpuHasAvx2() {
  static const bool has = DetectAvx2();
  return has;
}

bool CpuHasAvxVnni() {
  static const bool has = CpuHasAvx2() && DetectAvxVnni();
  return has;
}

bool CpuHasAvx512() {
  static const bool has = CpuHasAvx2() && DetectAvx512();
  return has;
}

bool CpuHasAvx512Vnni() {
  static const bool has = CpuHasAvx512() && DetectVnni();
  return has;
}

bool CpuHasAvx2Vnni() { return CpuHasAvxVnni() || CpuHasAvx512Vnni(); }

}  // namespace ekvi::base
