// Sleep until a word changes: the two futex calls (Linux), private to the process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace ekvi::base {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// Returns at once where the word is not `value`; may return for no reason: the caller looks again.
inline void FutexWait(const std::atomic<uint32_t>& word, uint32_t value) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

inline void FutexWake(const std::atomic<uint32_t>& word, int sleepers) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
}

}  // namespace ekvi::base
