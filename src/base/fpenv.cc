// x86 keeps rounding, flush-to-zero and exception masks in MXCSR, ARM in FPCR. Elsewhere only the rounding mode can be
// set portably. Restoring writes the whole word, so the caller's sticky exception flags come back as they were.
#include "base/fpenv.h"

#if defined(__SSE2__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace ekvi::base {

#if defined(__SSE2__)

// All exceptions masked, round to nearest even, denormals kept: the value after a reset.
constexpr uint32_t kMxcsrDefault = 0x1F80;

ScopedFpEnv::ScopedFpEnv() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(kMxcsrDefault); }
ScopedFpEnv::~ScopedFpEnv() { _mm_setcsr(saved_); }

#elif defined(__aarch64__)

ScopedFpEnv::ScopedFpEnv() noexcept {
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  saved_ = static_cast<uint32_t>(word);
  asm volatile("msr fpcr, %0" ::"r"(uint64_t{0}));
}
ScopedFpEnv::~ScopedFpEnv() { asm volatile("msr fpcr, %0" ::"r"(uint64_t{saved_})); }

#else

ScopedFpEnv::ScopedFpEnv() noexcept : saved_(static_cast<uint32_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
ScopedFpEnv::~ScopedFpEnv() { std::fesetround(static_cast<int>(saved_)); }

#endif

}  // namespace ekvi::base
