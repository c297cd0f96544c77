// A whole vocabulary may want its exponentials. Each is some fourteen fused products and sums: exact everywhere, but a
// call of the C library each where the compiler may not use the instruction (about 130 ns an exponential against 10,
// measured on Zen 4). Hence the same code is compiled once more with the instruction and chosen where the machine has
// it.
#include "engine/candidate.h"

#include "base/cpu.h"
#include "numeric/math-inl.h"

namespace ekvi::engine {
namespace {

[[gnu::always_inline]] inline uint64_t WeighEach(Candidate* candidates, size_t count, double best, double temperature) {
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    const double share = numeric::ExpNonPositive((candidates[i].logit - best) / temperature);
    candidates[i].weight = static_cast<uint64_t>(share * static_cast<double>(kWeightUnit) + 0.5);
    total += candidates[i].weight;
  }
  return total;
}

uint64_t WeighPortably(Candidate* candidates, size_t count, double best, double temperature) {
  return WeighEach(candidates, count, best, temperature);
}

#if defined(__x86_64__)
[[gnu::target("fma")]] uint64_t WeighFused(Candidate* candidates, size_t count, double best, double temperature) {
  return WeighEach(candidates, count, best, temperature);
}
#else
constexpr auto WeighFused = WeighPortably;
#endif

}  // namespace

uint64_t Weigh(std::span<Candidate> candidates, double best, double temperature) {
  const auto weigh = base::CpuHasAvx2() ? WeighFused : WeighPortably;
  return weigh(candidates.data(), candidates.size(), best, temperature);
}

}  // namespace ekvi::engine
