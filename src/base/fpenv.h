// The floating-point control word the law needs: round to nearest even, denormals kept, exceptions masked.
#pragma once

#include <cstdint>

namespace ekvi::base {

// Sets it on construction and restores the caller's on destruction: hosts change theirs (flush to zero is common).
class ScopedFpEnv {
 public:
  ScopedFpEnv() noexcept;
  ~ScopedFpEnv();
  ScopedFpEnv(const ScopedFpEnv&) = delete;
  ScopedFpEnv& operator=(const ScopedFpEnv&) = delete;

 private:
  uint32_t saved_;
};

}  // namespace ekvi::base
