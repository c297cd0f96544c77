// How a group of products is cut. A task is a range of panels times a range of at most 256 rows. Within a task, inputs
// go in stretches of 256, continuing the stored chain: two panels of a stretch (32 KiB of float32) and a tile of 8
// rows stay in the nearest cache while the rows of a stretch (256 KiB) stay in the next. The outputs of 16 panels are
// finished before the next 16, so that their sums (256 KiB) need not go to memory and back between stretches. With few
// rows the weights are read once and memory decides: then a panel goes through in one piece. Rounded rows take half
// the room per input and have more to do per stretch, so theirs is longer.
//
// Panels per task: about four tasks a thread, so that the last one costs little, but no task below kTaskWork
// multiply-adds (some microseconds; handing out a task costs a fraction of one), and a multiple of the kernels' strip
// of 8 panels where a task is that wide.
#include "model/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/check.h"
#include "base/checked.h"
#include "base/fault.h"
#include "ekvi/error.h"

namespace ekvi::model {
namespace {

using base::Fault;
using kernels::kLanes;

constexpr int64_t kRowBlock = 256, kInputBlock = 256, kInt8InputBlock = 1024, kPanelBlock = 16, kFewRows = 16;
constexpr int64_t kTaskWork = int64_t{1} << 16;
constexpr int64_t kTasksPerThread = 4, kStrip = 8;
constexpr size_t kMaxRuns = 4;
// Values from which on rows are rounded by several threads (some microseconds), and rows of a task then.
constexpr int64_t kRoundInParallel = int64_t{1} << 14, kRowsPerRounding = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The cut of a group: tasks of run r are numbered from first_task[r] on, panel ranges outer, row blocks inner.
struct Cut {
  int64_t panels_per_task = 0;
  int64_t row_blocks = 0;
  int64_t first_task[kMaxRuns + 1] = {};
};

template <typename T>
int64_t PanelsPerTask(std::span<const LinearRun<T>> runs, int64_t rows, int64_t row_blocks, int threads) {
  int64_t panels = 0, inputs = 1;
  for (const LinearRun<T>& run : runs) {
    panels += CeilDiv(run.linear->outputs(), kLanes);
    inputs = std::max(inputs, run.linear->inputs());
  }
  if (threads == 1) return std::max<int64_t>(panels, 1);
  const int64_t even = CeilDiv(panels * row_blocks, threads * kTasksPerThread);
  const int64_t worth = CeilDiv(kTaskWork, std::min(rows, kRowBlock) * kLanes * inputs);
  const int64_t per_task = std::max(even, worth);
  return per_task > kStrip / 2 ? CeilDiv(per_task, kStrip) * kStrip : CeilDiv(per_task, 2) * 2;
}

template <typename T>
Cut CutFor(std::span<const LinearRun<T>> runs, int64_t rows, int threads) {
  Cut cut;
  cut.row_blocks = CeilDiv(rows, kRowBlock);
  cut.panels_per_task = PanelsPerTask(runs, rows, cut.row_blocks, threads);
  for (size_t r = 0; r < runs.size(); ++r) {
    const int64_t ranges = CeilDiv(CeilDiv(runs[r].linear->outputs(), kLanes), cut.panels_per_task);
    cut.first_task[r + 1] = cut.first_task[r] + ranges * cut.row_blocks;
  }
  return cut;
}

// From a rounded row to the next, in blocks of a cache line each: an odd multiple of 8, so that the same place of 8
// rows falls into 8 different sets of the nearest cache, whose ways it would use up otherwise.
int64_t RoundedStride(int64_t inputs) { return (inputs / kernels::kStepInputs + 7) / 16 * 16 + 8; }

// Where each run finds its rows rounded; null where it needs none.
struct Rounded {
  const kernels::Int8Block* rows[kMaxRuns] = {};
};

void RoundAll(const LinearRun<float>& run, int64_t m, const Workshop<float>& workshop, kernels::Int8Block* out) {
  const int64_t inputs = run.linear->inputs(), stride = RoundedStride(inputs);
  const auto round = [&](int64_t first, int64_t count) {
    workshop.blocks->round_rows({.x = run.x + first * run.x_stride,
                                 .x_stride = run.x_stride,
                                 .out = out + first * stride,
                                 .out_stride = stride,
                                 .rows = count,
                                 .k = inputs});
  };
  if (m * inputs < kRoundInParallel || workshop.pool->threads() == 1) return round(0, m);
  workshop.pool->ForEach(CeilDiv(m, kRowsPerRounding), [&](int64_t task, int) {
    round(task * kRowsPerRounding, std::min(kRowsPerRounding, m - task * kRowsPerRounding));
  });
}

// The run before `index` that takes the same rows rounded, or `index` itself.
size_t FirstAlike(std::span<const LinearRun<float>> runs, size_t index) {
  const LinearRun<float>& run = runs[index];
  const auto alike = [&](const LinearRun<float>& other) {
    return other.linear->int8() && other.x == run.x && other.x_stride == run.x_stride &&
           other.linear->inputs() == run.linear->inputs();
  };
  return static_cast<size_t>(std::find_if(runs.begin(), runs.begin() + static_cast<int64_t>(index), alike) -
                             runs.begin());
}

Rounded RoundInputs(std::span<const LinearRun<float>> runs, int64_t m, const Workshop<float>& workshop) {
  int64_t blocks = 0;
  for (size_t r = 0; r < runs.size(); ++r) {
    if (runs[r].linear->int8() && FirstAlike(runs, r) == r) blocks += RoundedStride(runs[r].linear->inputs());
  }
  Rounded rounded;
  if (blocks == 0) return rounded;
  workshop.Reserve(m, blocks * kernels::kStepInputs);
  kernels::Int8Block* next = workshop.rounded->data();
  for (size_t r = 0; r < runs.size(); ++r) {
    if (!runs[r].linear->int8()) continue;
    const size_t first = FirstAlike(runs, r);
    if (first < r) {
      rounded.rows[r] = rounded.rows[first];
      continue;
    }
    RoundAll(runs[r], m, workshop, next);
    rounded.rows[r] = next;
    next += m * RoundedStride(runs[r].linear->inputs());
  }
  return rounded;
}

Rounded RoundInputs(std::span<const LinearRun<double>>, int64_t, const Workshop<double>&) { return {}; }

template <typename T>
void RunTask(std::span<const LinearRun<T>> runs, const Cut& cut, const Rounded& rounded, int64_t task, int64_t rows,
             const Workshop<T>& workshop) {
  size_t r = 0;
  while (task >= cut.first_task[r + 1]) ++r;
  const LinearRun<T>& run = runs[r];
  const int64_t within = task - cut.first_task[r];
  const int64_t panel = within / cut.row_blocks * cut.panels_per_task;
  const int64_t row = within % cut.row_blocks * kRowBlock;
  run.linear->RunPart({.x = run.x,
                       .x_stride = run.x_stride,
                       .out = run.out,
                       .out_stride = run.out_stride,
                       .row = row,
                       .rows = std::min(kRowBlock, rows - row),
                       .panel = panel,
                       .panels = std::min(cut.panels_per_task, CeilDiv(run.linear->outputs(), kLanes) - panel),
                       .rounded = rounded.rows[r]},
                      workshop);
}

// The faults of products, for the verifier's proof that it sees them.
template <typename T>
void Spoil(const LinearRun<T>& run, int64_t m, const Workshop<T>& workshop) {
  if (base::Injected(Fault::kThreadTail) && workshop.pool->threads() > 1) {
    for (int64_t row = 0; row < m; ++row) run.out[row * run.out_stride + run.linear->outputs() - 1] = 0;
  }
  if (base::Injected(Fault::kTargetRounding) && workshop.target == kernels::Target::kAvx2) {
    run.out[0] = std::nextafter(run.out[0], std::numeric_limits<T>::infinity());
  }
}

}  // namespace

template <typename T>
void Workshop<T>::Reserve(int64_t rows, int64_t inputs) const {
  const auto blocks = static_cast<size_t>(rows * RoundedStride(inputs));
  if (rounded->size() < blocks) rounded->resize(blocks);
}

template <typename T>
Linear<T>::Linear(const MatrixView& matrix, std::vector<T> bias, base::ThreadPool& pool, BlockArithmetic arithmetic,
                  base::Arena* arena)
    : bias_(std::move(bias)),
      outputs_(matrix.outputs),
      inputs_(matrix.inputs),
      format_(PackedFormat<T>(matrix.format)),
      int8_(arithmetic == BlockArithmetic::kInt8 && numeric::IsBlocks(format_)) {
  EKVI_CHECK(outputs_ > 0 && inputs_ > 0);
  EKVI_CHECK(bias_.empty() || static_cast<int64_t>(bias_.size()) == outputs_);
  panel_bytes_ = PanelBytes(format_, inputs_);
  const std::string tensor = fmt::format("{}{}tensor {}", matrix.file, matrix.file.empty() ? "" : ": ", matrix.name);
  const auto bytes = base::CheckedMul<size_t>(CeilDiv(outputs_, kLanes), panel_bytes_);
  if (!bytes) throw Error(ErrorCode::kCapacity, tensor + " is too large to pack", "", std::string(kWeightTerms.hint));
  panels_ = arena != nullptr ? arena->Take(*bytes) : base::AlignedBuffer(*bytes, kWeightTerms);
  if (const auto bad = PackPanels<T>(matrix, panels_.data(), pool)) {
    throw Error(ErrorCode::kCorrupt, tensor + " holds a value that is not finite",
                fmt::format("output {}, input {} of {} × {}", bad->output, bad->input, outputs_, inputs_),
                "such a model cannot give finite logits: fetch or convert it again");
  }
}

template <typename T>
void Linear<T>::RunPart(const Part& part, const Workshop<T>& workshop) const noexcept {
  const bool few = part.rows <= kFewRows;
  const int64_t group = few ? part.panels : kPanelBlock;
  const int64_t stretch = few ? inputs_ : int8_ ? kInt8InputBlock : kInputBlock;
  for (int64_t panel = part.panel; panel < part.panel + part.panels; panel += group) {
    RunPanels(part, {panel, std::min(group, part.panel + part.panels - panel)}, stretch, workshop);
  }
}

template <typename T>
void Linear<T>::RunPanels(const Part& part, PanelRange range, int64_t stretch,
                          const Workshop<T>& workshop) const noexcept {
  for (int64_t first = 0; first < inputs_; first += stretch) {
    RunStretch(part, range, {first, std::min(stretch, inputs_ - first)}, workshop);
  }
  if (bias_.empty()) return;
  const int64_t column = range.first * kLanes;
  const int64_t columns = std::min(range.count * kLanes, outputs_ - column);
  for (int64_t row = part.row; row < part.row + part.rows; ++row) {
    workshop.kernels->add_scaled(part.out + row * part.out_stride + column, &bias_[column], T(1), columns);
  }
}

// Rows times panels over some of the inputs, in whichever arithmetic.
template <typename T>
void Linear<T>::RunStretch(const Part& part, PanelRange range, InputRange inputs,
                           const Workshop<T>& workshop) const noexcept {
  const auto fill = [&](auto product) {
    const int64_t column = range.first * kLanes;
    product.b = panels_.data() + range.first * panel_bytes_ + PanelBytes(format_, inputs.first);
    product.format = format_;
    product.panel_bytes = panel_bytes_;
    product.c = part.out + part.row * part.out_stride + column;
    product.c_stride = part.out_stride;
    product.m = part.rows;
    product.n = std::min(range.count * kLanes, outputs_ - column);
    product.k = inputs.count;
    product.accumulate = inputs.first > 0;
    return product;
  };
  const T* const x = part.x + part.row * part.x_stride + inputs.first;
  if constexpr (std::is_same_v<T, float>) {
    if (int8_) {
      const int64_t stride = RoundedStride(inputs_);
      const kernels::Int8Block* const rows = part.rounded + part.row * stride + inputs.first / kernels::kStepInputs;
      return workshop.blocks->product_int8(
          fill(kernels::BlockProduct<kernels::Int8Block>{.a = rows, .a_stride = stride}));
    }
    if (numeric::IsBlocks(format_)) {
      return workshop.blocks->product(fill(kernels::BlockProduct<float>{.a = x, .a_stride = part.x_stride}));
    }
  }
  workshop.kernels->product(fill(kernels::Product<T>{.a = x, .a_stride = part.x_stride}));
}

template <typename T>
void RunTogether(std::span<const LinearRun<T>> runs, int64_t m, const Workshop<T>& workshop) {
  EKVI_CHECK(runs.size() <= kMaxRuns);
  if (m == 0) return;
  const Cut cut = CutFor(runs, m, workshop.pool->threads());
  const Rounded rounded = RoundInputs(runs, m, workshop);
  workshop.pool->ForEach(cut.first_task[runs.size()],
                         [&](int64_t task, int) { RunTask(runs, cut, rounded, task, m, workshop); });
  if (!base::Injected(Fault::kNone)) {
    for (const LinearRun<T>& run : runs) Spoil(run, m, workshop);
  }
}

template struct Workshop<float>;
template struct Workshop<double>;
template class Linear<float>;
template class Linear<double>;
template void RunTogether(std::span<const LinearRun<float>>, int64_t, const Workshop<float>&);
template void RunTogether(std::span<const LinearRun<double>>, int64_t, const Workshop<double>&);

}  // namespace ekvi::model
