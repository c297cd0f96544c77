// Goal: every task runs once, every run ends, and the pool survives neighbours, reuse and being larger than the
// machine. Method: counters per task and worker over many short runs, with delays placed where a wake-up could be lost.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/random.h"
#include "ekvi/machine.h"

namespace ekvi::base {
namespace {

TEST(ThreadPool, Run_CallsEachWorkerOnce) {
  for (const int threads : {1, 2, 3, 8, 33}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<std::atomic<int>> calls(static_cast<size_t>(threads));
    for (int run = 1; run <= 200; ++run) {
      pool.Run([&](int worker) { calls.at(static_cast<size_t>(worker)).fetch_add(1); });
      for (const auto& count : calls) ASSERT_EQ(count.load(), run);
    }
  }
}

TEST(ThreadPool, ForEach_DoesEachTaskOnce) {
  for (const int threads : {1, 2, 5, 16}) {
    ThreadPool pool(threads);
    for (const int64_t count : {0, 1, 2, 3, 17, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      pool.ForEach(count, [&](int64_t task, int worker) {
        EXPECT_LT(worker, threads);
        done.at(static_cast<size_t>(task)).fetch_add(1);
      });
      for (const auto& times : done) ASSERT_EQ(times.load(), 1);
    }
  }
}

TEST(ThreadPool, ForEach_ResultsAreSeenByTheCaller) {
  ThreadPool pool(4);
  std::vector<int64_t> plain(64);
  for (int64_t run = 0; run < 2000; ++run) {
    pool.ForEach(64, [&](int64_t task, int) { plain[static_cast<size_t>(task)] = run * task; });
    for (int64_t task = 0; task < 64; ++task) ASSERT_EQ(plain[static_cast<size_t>(task)], run * task);
  }
}

TEST(ThreadPool, MixedRunsWithPauses_LoseNoWakeUp) {
  ThreadPool pool(3);
  Random random(20240607);
  std::atomic<int64_t> sum{0};
  int64_t expected = 0;
  for (int run = 0; run < 3000; ++run) {
    if (random.Below(20) == 0) std::this_thread::sleep_for(std::chrono::microseconds(random.Below(200)));
    if (random.Below(2) == 0) {
      pool.Run([&](int worker) { sum += worker; });
      expected += 0 + 1 + 2;
    } else {
      const auto count = static_cast<int64_t>(random.Below(6));
      pool.ForEach(count, [&](int64_t task, int) { sum += task; });
      expected += count * (count - 1) / 2;
    }
    ASSERT_EQ(sum.load(), expected) << "run " << run << " of seed 20240607";
  }
}

TEST(ThreadPool, ForEach_DoesNotWaitForWorkersThatAreNotNeeded) {
  ThreadPool pool(2 * GrantedThreads() + 6);
  std::atomic<bool> stop{false};
  std::thread hog([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  int64_t done = 0;
  std::atomic<int64_t> tasks{0};
  for (; done < 300; ++done) pool.ForEach(8, [&](int64_t, int) { tasks.fetch_add(1, std::memory_order_relaxed); });
  stop = true;
  hog.join();
  EXPECT_EQ(tasks.load(), 8 * done);
}

TEST(ThreadPool, PoolsBesideEachOther_DoNotMix) {
  std::vector<std::thread> hosts;
  std::atomic<int> total{0};
  for (int host = 0; host < 3; ++host) {
    hosts.emplace_back([&] {
      ThreadPool pool(3);
      for (int run = 0; run < 200; ++run) pool.ForEach(5, [&](int64_t, int) { total.fetch_add(1); });
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(total.load(), 3 * 200 * 5);
}

TEST(ThreadPool, UnusedPool_Ends) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

TEST(ThreadPoolDeathTest, NoThreads_IsABug) { EXPECT_DEATH(ThreadPool(0), "threads >= 1"); }

TEST(GrantedThreads, IsPositiveAndWhatTheMachineSays) {
  EXPECT_GE(GrantedThreads(), 1);
  EXPECT_EQ(GrantedThreads(), DescribeMachine().threads);
}

}  // namespace
}  // namespace ekvi::base
