// What the machine can do at most, as works to be timed in turns with others.
#pragma once

#include <cstddef>

#include "base/aligned.h"
#include "base/thread_pool.h"
#include "bench/rounds.h"
#include "ekvi/bench.h"
#include "kernels/blocks.h"
#include "kernels/kernels.h"

namespace ekvi::bench {

// What something computes and reads at least, and in which arithmetic.
struct Effort {
  double operations = 0, bytes = 0;
  bool int8 = false;
};

// How its median stands to the least time that the ceilings of the same rounds allow.
struct Share {
  double share = 0;
  std::string limit;  // "fma", "int8", "read": which allows no less
};

class CeilingProbe {
 public:
  // The pool outlives it. Holds 256 MiB, which the workers touch first.
  CeilingProbe(kernels::Target target, base::ThreadPool& pool);

  // One round of each; all threads work.
  Work Fma();
  Work Int8();
  Work Read();  // from memory that no cache holds, the next stretch of it each time

  // What a round of these does.
  double fma_operations() const { return fma_operations_; }
  double int8_operations() const { return int8_operations_; }
  double read_bytes() const;

  // All of them in the same rounds, from each level of memory. `seconds` 0: half a second.
  BenchCeilings MeasureAll(double seconds);

  // Times `run` in turns with the two ceilings that may limit it.
  struct Timed {
    Timing timing;
    Share share;
  };
  Timed Measure(const std::function<void()>& run, const Effort& effort, double seconds);
  // The same into the figures that every row of a report has; the median seconds.
  template <typename Row>
  double Measure(const std::function<void()>& run, const Effort& effort, double seconds, Row& row) {
    const Timed timed = Measure(run, effort, seconds);
    row.gflops = 1e-9 * effort.operations / timed.timing.seconds;
    row.gbps = 1e-9 * effort.bytes / timed.timing.seconds;
    row.share = timed.share.share;
    row.limit = timed.share.limit;
    row.spread = timed.timing.spread;
    return timed.timing.seconds;
  }

 private:
  // Reads `bytes` of each thread's own `times` times over: of a cache that holds them since the untimed first time.
  Work ReadAgain(size_t bytes);
  void ReadTimes(size_t bytes, int times);

  kernels::Target target_;
  base::ThreadPool& pool_;
  base::AlignedBuffer memory_;
  size_t next_ = 0;
  double fma_operations_ = 0, int8_operations_ = 0;
};

}  // namespace ekvi::bench
