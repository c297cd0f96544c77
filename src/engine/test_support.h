// What the tests of this layer share.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "ekvi/error.h"

namespace ekvi::engine {

// Calls of operator new in this program so far (allocation_counter_test.cc).
extern std::atomic<int64_t> allocation_count;

// What `call` throws; nothing where it returns.
template <typename Call>
std::optional<Error> Thrown(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

}  // namespace ekvi::engine
