// A matrix of weights, packed once, and its product with rows of activations: out[m, outputs] = x[m, inputs] · Wᵀ (+
// bias).
//
// The law: an output is one chain of fused multiply-adds over the inputs in order (then + bias), or, for weights in
// blocks multiplied as integers, the chain of kernels/blocks.h; whatever m, threads, target and cuts. Threads share
// outputs and rows; who computes an element changes nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "base/thread_pool.h"
#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "model/linear_pack.h"

namespace ekvi::model {

// How float32 multiplies weights in blocks: each at its stored value, or as integers with activations rounded to 8
// bits. Weights of plain numbers, and all weights in float64, are multiplied at their stored value in any case.
enum class BlockArithmetic { kFloat, kInt8 };

// What a step computes with. The pool outlives it; one caller at a time.
template <typename T>
struct Workshop {
  kernels::Target target;
  const kernels::Table<T>* kernels;
  const kernels::BlockTable* blocks;
  base::ThreadPool* pool;
  // Scratch of RunTogether: rows rounded to 8 bits. It grows and never shrinks.
  std::unique_ptr<std::vector<kernels::Int8Block>> rounded;

  Workshop(kernels::Target target, base::ThreadPool* pool)
      : target(target),
        kernels(&kernels::TableFor<T>(target)),
        blocks(&kernels::BlockTableFor(target)),
        pool(pool),
        rounded(std::make_unique<std::vector<kernels::Int8Block>>()) {}
  // Room for `rows` of `inputs` values, so that products of so many allocate nothing.
  void Reserve(int64_t rows, int64_t inputs) const;
};

// Of memory for packed weights.
inline constexpr base::MemoryTerms kWeightTerms = {
    .what = "packed weights",
    .hint = "a smaller model, one quantized to fewer bits, other programs closed, or a machine with more memory"};

// T is float or double. Movable; read-only once built, then any number of threads may use it.
template <typename T>
class Linear {
 public:
  Linear() = default;  // no outputs
  // Packs on all threads of the pool. bias is empty or [outputs]. Errors: kCorrupt, naming tensor and place, for a
  // value that is not finite; kCapacity where the packed matrix does not fit memory. It lies in the arena, or without
  // one in memory of its own.
  Linear(const MatrixView& matrix, std::vector<T> bias, base::ThreadPool& pool,
         BlockArithmetic arithmetic = BlockArithmetic::kFloat, base::Arena* arena = nullptr);

  int64_t outputs() const { return outputs_; }
  int64_t inputs() const { return inputs_; }
  numeric::Format format() const { return format_; }  // as packed
  bool int8() const { return int8_; }
  size_t bytes() const { return panels_.size() + bias_.size() * sizeof(T); }

  // The products of rows [row, row + rows) with outputs of panels [panel, panel + panels), bias included.
  struct Part {
    const T* x;
    int64_t x_stride;
    T* out;
    int64_t out_stride;
    int64_t row, rows;
    int64_t panel, panels;
    const kernels::Int8Block* rounded = nullptr;  // all of x, rounded; where int8()
  };
  void RunPart(const Part& part, const Workshop<T>& workshop) const noexcept;

 private:
  struct PanelRange {
    int64_t first, count;
  };
  struct InputRange {
    int64_t first, count;
  };
  void RunPanels(const Part& part, PanelRange range, int64_t stretch, const Workshop<T>& workshop) const noexcept;
  void RunStretch(const Part& part, PanelRange range, InputRange inputs, const Workshop<T>& workshop) const noexcept;

  base::AlignedBuffer panels_;
  std::vector<T> bias_;
  int64_t outputs_ = 0, inputs_ = 0, panel_bytes_ = 0;
  numeric::Format format_ = numeric::Format::kF32;
  bool int8_ = false;
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

// All products of a group with the same m, shared among the pool's threads in one go. Rows that several int8 products
// take are rounded once. Allocates nothing but scratch not yet there (Workshop::Reserve). At most 4 runs.
template <typename T>
void RunTogether(std::span<const LinearRun<T>> runs, int64_t m, const Workshop<T>& workshop);

template <typename T>
void RunAlone(const LinearRun<T>& run, int64_t m, const Workshop<T>& workshop) {
  RunTogether(std::span<const LinearRun<T>>(&run, 1), m, workshop);
}

}  // namespace ekvi::model
