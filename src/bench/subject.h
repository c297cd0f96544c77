// Something to measure: a kernel on one shape.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernels.h"

namespace ekvi::bench {

// Where a subject runs. The pool outlives it.
struct Place {
  kernels::Target target;
  base::ThreadPool* pool;
};

class Subject {
 public:
  virtual ~Subject() = default;
  // Once, on inputs that are cold where a model's would be.
  virtual void Run() = 0;
  // Runs, and throws Error(kCorrupt) with both numbers where the result is not what a simple computation gives.
  virtual void Check() = 0;
  virtual double operations() const = 0;  // of a run
  virtual double bytes() const = 0;       // that a run must read from memory, at least
};

// A subject that is not yet made: what it is, and how to make it.
struct Case {
  std::string kernel, dtype, compute;
  std::vector<std::pair<std::string, int64_t>> shape;
  std::string shape_text;
  std::function<std::unique_ptr<Subject>(const Place&)> make;

  // "matmul q8_0 int8 m 512 n 2048 k 8192".
  std::string Name() const;
};

}  // namespace ekvi::bench
