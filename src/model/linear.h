// A matrix of weights, packed once, and its product with rows of activations: out[m, outputs] = x[m, inputs] · Wᵀ (+
// bias).
//
// The law: an output is one chain of fused multiply-adds over the inputs in order (then + bias), whatever m, threads,
// target and cuts. Threads share outputs and rows; who computes an element changes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/thread_pool.h"
#include "kernels/kernels.h"
#include "model/linear_pack.h"

namespace ekvi::model {

// What a step computes with. The pointed-to outlive it; one caller of the pool at a time.
template <typename T>
struct Workshop {
  kernels::Target target;
  const kernels::Table<T>* kernels;
  base::ThreadPool* pool;

  Workshop(kernels::Target target, base::ThreadPool* pool)
      : target(target), kernels(&kernels::TableFor<T>(target)), pool(pool) {}
};

// T is float or double. Movable; read-only once built, then any number of threads may use it.
template <typename T>
class Linear {
 public:
  Linear() = default;  // no outputs
  // Packs on all threads of the pool. bias is empty or [outputs]. Errors: kCorrupt, naming tensor and place, for a
  // value that is not finite; kCapacity where the packed matrix does not fit memory.
  Linear(const MatrixView& matrix, std::vector<T> bias, base::ThreadPool& pool);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  DType type() const { return type_; }
  size_t bytes() const { return panels_.size() + bias_.size() * sizeof(T); }

  // The products of rows [row, row + rows) with outputs of panels [panel, panel + panels), bias included.
  struct Part {
    const T* x;
    int64_t x_stride;
    T* out;
    int64_t out_stride;
    int64_t row, rows;
    int64_t panel, panels;
  };
  void RunPart(const Part& part, const kernels::Table<T>& kernels) const noexcept;

 private:
  struct PanelRange {
    int64_t first, count;
  };
  void RunPanels(const Part& part, PanelRange range, int64_t stretch, const kernels::Table<T>& kernels) const noexcept;

  base::AlignedBuffer panels_;
  std::vector<T> bias_;
  int64_t outputs_ = 0, inputs_ = 0, panel_bytes_ = 0;
  DType type_ = DType::kF32;
};

// One product of a group that is computed together.
template <typename T>
struct LinearRun {
  const Linear<T>* linear;
  const T* x;  // [m, inputs]
  int64_t x_stride;
  T* out;  // [m, outputs]
  int64_t out_stride;
};

// All products of a group with the same m, shared among the pool's threads in one go. Allocates nothing. At most 4
// runs.
template <typename T>
void RunTogether(std::span<const LinearRun<T>> runs, int64_t m, const Workshop<T>& workshop);

template <typename T>
void RunAlone(const LinearRun<T>& run, int64_t m, const Workshop<T>& workshop) {
  RunTogether(std::span<const LinearRun<T>>(&run, 1), m, workshop);
}

}  // namespace ekvi::model
