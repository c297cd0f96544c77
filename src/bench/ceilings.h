// What the machine can do at most, as works to be timed in turns with others.
#pragma once

#include <cstddef>
#include <functional>

#include "base/aligned.h"
#include "base/thread_pool.h"
#include "ekvi/bench.h"
#include "kernels/blocks.h"
#include "kernels/kernels.h"

namespace ekvi::bench {

// 10^9 operations or bytes a second.
struct Limits {
  double fma = 0, int8 = 0, read = 0;
};

class CeilingProbe {
 public:
  // The pool outlives it. Holds 256 MiB, which the workers touch first.
  CeilingProbe(kernels::Target target, base::ThreadPool& pool);

  // One round of each; all threads work.
  std::function<void()> Fma();
  std::function<void()> Int8();
  std::function<void()> Read();  // from memory that no cache holds, the next stretch of it each time

  // What a round of these does.
  double fma_operations() const { return fma_operations_; }
  double int8_operations() const { return int8_operations_; }
  double read_bytes() const;

  // All of them, from each level of memory.
  BenchCeilings MeasureAll();

 private:
  // Reads `bytes` for each thread `times` times over.
  void ReadAgain(size_t bytes, int times);
  double RateOfReading(size_t bytes);

  kernels::Target target_;
  base::ThreadPool& pool_;
  base::AlignedBuffer memory_;
  size_t next_ = 0;
  double fma_operations_ = 0, int8_operations_ = 0;
};

}  // namespace ekvi::bench
