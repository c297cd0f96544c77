// Attention over a cache with the crew and the kernels of its owner: what the public Attention wraps and the decoder
// uses.
//
// Contract and semantics: include/ekvi/attention.h.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "attend/step_plan.h"
#include "attend/tile_job.h"
#include "base/thread_pool.h"
#include "ekvi/attention.h"
#include "kernels/kernels.h"

namespace ekvi::attend {

// The half of the core that depends on the arithmetic: options, scratch and kept states of one element type.
template <typename T>
class Arithmetic {
 public:
  Arithmetic(const CacheLayout& layout, std::span<const AttentionLayer> layers, kernels::Target target, int threads);

  void ReserveStates(int64_t count);
  void Run(const KvCache& cache, const StepPlan& plan, int layer, HeadArray<const T> q, HeadArray<T> out,
           base::ThreadPool& pool);

 private:
  void RunTask(const TileContext<T>& context, const Task& task, int worker);

  const kernels::Table<T>& table_;
  std::vector<LayerOptions<T>> layers_;
  std::vector<Scratch<T>> scratch_;  // [threads]
  base::AlignedBuffer kept_memory_;
  int64_t kept_count_ = 0;
  int64_t head_dim_v_max_ = 0;
  std::unique_ptr<std::atomic<int64_t>[]> open_parts_;  // [tile]: parts of a cut tile not yet done
  size_t open_parts_size_ = 0;
};

class AttentionCore {
 public:
  // `pool` outlives the core. Errors as Attention's constructor.
  AttentionCore(const CacheLayout& layout, std::vector<AttentionLayer> layers, kernels::Target target,
                base::ThreadPool& pool);

  void Plan(const Append& append, std::span<const int64_t> q_offset, std::span<const int64_t> out_offset);
  void Run(int layer, HeadArray<const float> q, HeadArray<float> out);
  void Run(int layer, HeadArray<const double> q, HeadArray<double> out);

 private:
  template <typename T>
  void RunAs(Arithmetic<T>* arithmetic, int layer, HeadArray<const T> q, HeadArray<T> out);

  CacheLayout layout_;
  base::ThreadPool& pool_;
  std::vector<StepPlan> plans_;  // one per distinct geometry
  std::vector<int> plan_of_;     // [layer]
  std::vector<PlanRow> rows_;
  const KvCache* cache_ = nullptr;  // of the step that was planned
  std::unique_ptr<Arithmetic<float>> f32_;
  std::unique_ptr<Arithmetic<double>> f64_;
};

}  // namespace ekvi::attend
