// Chooses a target's table: once, by what the machine has and the caller names.
#include "kernels/kernels.h"

#include <ranges>
#include <string>

#include "base/cpu.h"
#include "ekvi/error.h"
#include "kernels/targets.h"

namespace ekvi::kernels {
namespace {

constexpr auto kBestFirst = std::views::reverse(kTargets);

std::string AvailableNames() {
  std::string names;
  for (const Target target : kBestFirst) {
    if (TargetAvailable(target)) names += (names.empty() ? "" : ", ") + std::string(TargetName(target));
  }
  return names;
}

}  // namespace

std::string_view TargetName(Target target) {
  switch (target) {
    case Target::kScalar:
      return "scalar";
    case Target::kAvx2:
      return "avx2";
    case Target::kAvx2Vnni:
      return "avx2_vnni";
    case Target::kAvx512:
      return "avx512";
    case Target::kAvx512Vnni:
      return "avx512_vnni";
  }
  return "";
}

bool TargetAvailable(Target target) {
  switch (target) {
    case Target::kScalar:
      return true;
    case Target::kAvx2:
      return base::CpuHasAvx2();
    case Target::kAvx2Vnni:
      return base::CpuHasAvx2Vnni();
    case Target::kAvx512:
      return base::CpuHasAvx512();
    case Target::kAvx512Vnni:
      return base::CpuHasAvx512Vnni();
  }
  return false;
}

Target ParseTarget(std::string_view name) {
  for (const Target target : kBestFirst) {
    if (name.empty() && TargetAvailable(target)) return target;
    if (name != TargetName(target)) continue;
    if (TargetAvailable(target)) return target;
    throw Error(ErrorCode::kUnsupported, "this machine lacks the vector target '" + std::string(name) + "'",
                "it runs " + AvailableNames(), "leave the target out, or name one of these");
  }
  throw Error(ErrorCode::kInvalidArgument, "no vector target is called '" + std::string(name) + "'",
              "this machine runs " + AvailableNames(), "name one of these");
}

#if defined(__x86_64__)
namespace {
bool HasYmm(Target target) { return target == Target::kAvx2 || target == Target::kAvx2Vnni; }
bool HasZmm(Target target) { return target == Target::kAvx512 || target == Target::kAvx512Vnni; }
}  // namespace

template <>
const Table<float>& TableFor<float>(Target target) {
  return HasZmm(target) ? Avx512F32() : HasYmm(target) ? Avx2F32() : ScalarF32();
}
template <>
const Table<double>& TableFor<double>(Target target) {
  return HasZmm(target) ? Avx512F64() : HasYmm(target) ? Avx2F64() : ScalarF64();
}
const BlockTable& BlockTableFor(Target target) {
  switch (target) {
    case Target::kScalar:
      return ScalarBlocks();
    case Target::kAvx2:
      return Avx2Blocks();
    case Target::kAvx2Vnni:
      return base::CpuHasAvxVnni() ? Avx2VnniBlocks() : Avx2VnniEvexBlocks();
    case Target::kAvx512:
      return Avx512Blocks();
    case Target::kAvx512Vnni:
      return Avx512VnniBlocks();
  }
  return ScalarBlocks();
}
#else
template <>
const Table<float>& TableFor<float>(Target) {
  return ScalarF32();
}
template <>
const Table<double>& TableFor<double>(Target) {
  return ScalarF64();
}
const BlockTable& BlockTableFor(Target) { return ScalarBlocks(); }
#endif

}  // namespace ekvi::kernels
