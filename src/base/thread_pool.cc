// One run is one generation of `gate`, a word of 64 bits: generation, an open bit, and the number of helpers inside.
//
// The caller writes the work, then opens the gate for the next generation. A helper enters by one compare-and-swap,
// which succeeds only while the gate is open: so whoever is inside may read the work, and the caller does not return
// before the last one has left. When the caller's own share is done it closes the gate (ForEach): a helper that the
// system did not let run in time finds it closed and goes back to sleep, and nobody waited for it. Run keeps the gate
// open until as many helpers have left as there are.
//
// Waiting is a spin of at most kSpin, then a futex. A sleeper is counted before it looks at the word for the last time,
// and the one who changes the word looks at the count afterwards (both sequentially consistent): so no wake-up is lost,
// and none is paid for when nobody sleeps. A pool larger than the cores granted does not spin: it would take time from
// its own workers.
#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/fpenv.h"
#include "base/futex.h"
#include "ekvi/error.h"

namespace ekvi::base {
namespace {

// Longer than the serial pieces between two products of a layer (1 to 5 µs), shorter than two wake-ups (5 to 50 µs).
constexpr std::chrono::microseconds kSpin{20};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until `done` or until the time is up; says which.
template <typename Done>
bool Spin(std::chrono::microseconds most, const Done& done) {
  const auto end = std::chrono::steady_clock::now() + most;
  do {
    for (int i = 0; i < 32; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

// A word that one side changes and the other waits on.
class alignas(64) Signal {
 public:
  uint32_t value() const { return word_.load(std::memory_order_acquire); }

  void Change(int wake_most) {
    word_.fetch_add(1, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) FutexWake(word_, wake_most);
  }

  void WaitWhile(uint32_t value, std::chrono::microseconds spin) {
    if (Spin(spin, [&] { return this->value() != value; })) return;
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    while (word_.load(std::memory_order_seq_cst) == value) FutexWait(word_, value);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

 private:
  std::atomic<uint32_t> word_{0};
  std::atomic<int> sleepers_{0};
};

// Helpers take no signals: a host's handlers run on the host's threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }

 private:
  sigset_t saved_;
};

constexpr uint64_t kInside = 1;
constexpr uint64_t kInsideMask = (uint64_t{1} << 31) - 1;
constexpr uint64_t kOpen = uint64_t{1} << 31;
constexpr int kGenerationShift = 32;

}  // namespace

struct ThreadPool::Impl {
  explicit Impl(int threads) : helpers(threads - 1), spin(threads <= GrantedThreads() ? kSpin : kSpin.zero()) {}

  bool Enter(uint32_t& seen);
  void Leave();
  void Help(int worker);
  void Stop();
  void AwaitAll();
  void CloseAndAwait();

  const int helpers;
  const std::chrono::microseconds spin;
  Work work;
  std::atomic<bool> busy{false};
  bool stop = false;
  alignas(64) std::atomic<uint64_t> gate{0};
  std::atomic<int> left{0};  // helpers that have left in this generation
  Signal opened, emptied;
  std::vector<std::thread> crew;
};

// Into the generation that is open and not yet `seen`.
bool ThreadPool::Impl::Enter(uint32_t& seen) {
  uint64_t now = gate.load(std::memory_order_acquire);
  do {
    const auto generation = static_cast<uint32_t>(now >> kGenerationShift);
    if (generation == seen || (now & kOpen) == 0) return false;
  } while (!gate.compare_exchange_weak(now, now + kInside, std::memory_order_acq_rel, std::memory_order_acquire));
  seen = static_cast<uint32_t>(now >> kGenerationShift);
  return true;
}

// The caller may be gone, and the next run begun, as soon as the gate says that nobody is inside: hence `left` first.
void ThreadPool::Impl::Leave() {
  const bool all_left = left.fetch_add(1, std::memory_order_acq_rel) + 1 == helpers;
  const uint64_t before = gate.fetch_sub(kInside, std::memory_order_acq_rel);
  const bool last_of_closed = (before & kOpen) == 0 && (before & kInsideMask) == kInside;
  if (all_left || last_of_closed) emptied.Change(1);
}

void ThreadPool::Impl::Help(int worker) {
  const ScopedFpEnv environment;
  uint32_t seen = 0;
  for (;;) {
    const uint32_t signal = opened.value();
    if (Enter(seen)) {
      if (stop) return;
      work(worker);
      Leave();
    } else {
      opened.WaitWhile(signal, spin);
    }
  }
}

// A helper counts itself as gone a moment before it is: CloseAndAwait, which follows, waits for that moment.
void ThreadPool::Impl::AwaitAll() {
  for (;;) {
    const uint32_t signal = emptied.value();
    if (left.load(std::memory_order_acquire) == helpers) return;
    emptied.WaitWhile(signal, spin);
  }
}

void ThreadPool::Impl::CloseAndAwait() {
  uint64_t now = gate.fetch_and(~kOpen, std::memory_order_acq_rel);
  while ((now & kInsideMask) != 0) {
    const uint32_t signal = emptied.value();
    now = gate.load(std::memory_order_acquire);
    if ((now & kInsideMask) != 0) emptied.WaitWhile(signal, spin);
  }
}

// The helpers enter one last generation, which never closes, and do not leave it.
void ThreadPool::Impl::Stop() {
  stop = true;
  gate.store(((gate.load() >> kGenerationShift) + 1) << kGenerationShift | kOpen, std::memory_order_release);
  opened.Change(INT_MAX);
  for (std::thread& thread : crew) thread.join();
}

ThreadPool::ThreadPool(int threads) {
  EKVI_CHECK_OP(>=, threads, 1);
  impl_ = std::make_unique<Impl>(threads);
  const BlockedSignals blocked;
  try {
    for (int worker = 1; worker < threads; ++worker) {
      impl_->crew.emplace_back([impl = impl_.get(), worker] { impl->Help(worker); });
    }
  } catch (const std::system_error& error) {
    const size_t started = impl_->crew.size() + 1;
    impl_->Stop();
    throw Error(ErrorCode::kCapacity, "cannot start " + std::to_string(threads) + " threads",
                std::to_string(started) + " started; the system says: " + error.code().message(), "fewer threads");
  }
}

ThreadPool::~ThreadPool() { impl_->Stop(); }

int ThreadPool::threads() const { return impl_->helpers + 1; }

void ThreadPool::RunErased(Crew crew, int64_t helpers, Work work) {
  const ScopedFpEnv environment;
  Impl& impl = *impl_;
  const auto woken = static_cast<int>(std::min<int64_t>(helpers, impl.helpers));
  if (woken <= 0) {
    work(0);
    return;
  }
  EKVI_CHECK(!impl.busy.exchange(true, std::memory_order_acquire));
  impl.work = work;
  impl.left.store(0, std::memory_order_relaxed);
  const uint64_t generation = (impl.gate.load(std::memory_order_relaxed) >> kGenerationShift) + 1;
  impl.gate.store(generation << kGenerationShift | kOpen, std::memory_order_release);
  impl.opened.Change(woken);
  work(0);
  if (crew == Crew::kAll) impl.AwaitAll();
  impl.CloseAndAwait();
  impl.busy.store(false, std::memory_order_release);
}

}  // namespace ekvi::base
