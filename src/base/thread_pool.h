// A fixed crew of threads that run one function together: short spin, then sleep on a futex.
//
// The caller is worker 0 and works too. Threads never decide results: tasks are claimed from a counter, and the law's
// order is by position, not by who computes. Every worker runs with the default floating-point control word; the
// caller's own is saved and restored (ScopedFpEnv).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace ekvi::base {

class ThreadPool {
 public:
  // `threads` ≥ 1 in all, the caller included. Error(kCapacity) where the system refuses to start so many.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls work(worker) once on each worker 0 … threads() - 1 and returns when all have. Not reentrant; one caller at a
  // time. `work` must not throw. No allocation: the function is referred to, not copied. Where the order of the work
  // allows, prefer ForEach: it does not wait for a worker that the system keeps from running.
  template <typename Function>
  void Run(const Function& work) {
    RunErased(Crew::kAll, threads() - 1, Work::Of(work));
  }

  // Calls work(task, worker) for tasks 0 … count - 1, each once, claimed one by one; returns when all are done. A
  // worker that has not come by then is not waited for. Same rules as Run.
  template <typename Function>
  void ForEach(int64_t count, const Function& work) {
    std::atomic<int64_t> next{0};
    const auto claim = [&](int worker) {
      for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(task, worker);
    };
    RunErased(Crew::kWhoComes, count - 1, Work::Of(claim));
  }

 private:
  enum class Crew { kAll, kWhoComes };
  struct Work {
    const void* function = nullptr;
    void (*call)(const void*, int) = nullptr;
    void operator()(int worker) const { call(function, worker); }
    template <typename Function>
    static Work Of(const Function& function) {
      return {&function, [](const void* f, int worker) { (*static_cast<const Function*>(f))(worker); }};
    }
  };

  void RunErased(Crew crew, int64_t helpers, Work work);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Threads this process is granted: min(affinity, cgroup quota rounded down), at least 1.
int GrantedThreads();

}  // namespace ekvi::base
