#include "attend/attention_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fault.h"
#include "base/fpenv.h"
#include "ekvi/error.h"

namespace ekvi::attend {
namespace {

[[noreturn]] void Refuse(const std::string& what, const std::string& numbers, const std::string& hint) {
  throw Error(ErrorCode::kInvalidArgument, what, numbers, hint);
}

void CheckHeads(size_t index, const AttentionLayer& layer, const LayerShape& shape) {
  if (layer.q_heads < 1 || layer.q_heads % shape.kv_heads != 0) {
    Refuse(fmt::format("attention layer {}: query heads are no multiple of KV heads", index),
           fmt::format("{} query heads, {} KV heads", layer.q_heads, shape.kv_heads),
           "every KV head serves the same number of query heads");
  }
  const auto heads = static_cast<size_t>(layer.q_heads);
  const auto check_length = [&](const std::vector<double>& values, const char* name) {
    if (values.empty() || values.size() == heads) return;
    Refuse(fmt::format("attention layer {}: {} has the wrong length", index, name),
           fmt::format("{} values for {} query heads", values.size(), heads), "give one value per query head, or none");
  };
  check_length(layer.alibi_slopes, "alibi_slopes");
  check_length(layer.sink_logits, "sink_logits");
}

void CheckNumbers(size_t index, const AttentionLayer& layer) {
  const auto check = [&](bool good, const char* name, double value, const char* range) {
    if (good) return;
    Refuse(fmt::format("attention layer {}: {} is out of range", index, name), fmt::format("{} = {}", name, value),
           range);
  };
  check(std::isfinite(layer.scale) && layer.scale >= 0, "scale", layer.scale,
        "a finite number, 0 for 1/sqrt(head_dim_k)");
  check(std::isfinite(layer.soft_cap) && layer.soft_cap >= 0, "soft_cap", layer.soft_cap,
        "a finite number, 0 for none");
  check(layer.window >= 0, "window", static_cast<double>(layer.window), "a number of keys, 0 for all");
  check(layer.sink_tokens >= 0, "sink_tokens", static_cast<double>(layer.sink_tokens), "a number of tokens");
  for (const double slope : layer.alibi_slopes) check(std::isfinite(slope), "alibi_slopes", slope, "finite numbers");
  for (const double logit : layer.sink_logits) check(std::isfinite(logit), "sink_logits", logit, "finite numbers");
}

void CheckLayers(const CacheLayout& layout, std::span<const AttentionLayer> layers) {
  CheckLayout(layout);
  if (layers.size() != layout.layers.size()) {
    Refuse("attention and cache have different numbers of layers",
           fmt::format("{} attention layers, {} cache layers", layers.size(), layout.layers.size()),
           "describe every layer of the cache");
  }
  if ((layout.dtype_k == DType::kF64) != (layout.dtype_v == DType::kF64)) {
    Refuse("a cache of float64 keys or values needs both in float64",
           fmt::format("k {}, v {}", DTypeName(layout.dtype_k), DTypeName(layout.dtype_v)), "use f64:f64");
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    CheckHeads(i, layers[i], layout.layers[i]);
    CheckNumbers(i, layers[i]);
  }
}

template <typename T>
LayerOptions<T> OptionsOf(const AttentionLayer& layer, const LayerShape& shape) {
  const double scale = layer.scale != 0 ? layer.scale : 1 / std::sqrt(static_cast<double>(shape.head_dim_k));
  LayerOptions<T> options{.shape = shape,
                          .q_heads = layer.q_heads,
                          .scale = static_cast<T>(scale),
                          .soft_cap = static_cast<T>(layer.soft_cap),
                          .slopes = {},
                          .sink_logits = {}};
  options.slopes.assign(layer.alibi_slopes.begin(), layer.alibi_slopes.end());
  options.sink_logits.assign(layer.sink_logits.begin(), layer.sink_logits.end());
  return options;
}

// The fault kNeighbourRow: the last row reads the cache of the first that has as many tokens.
void ReadNeighbour(std::vector<PlanRow>& rows) {
  PlanRow& last = rows.back();
  const auto long_enough = [&](const PlanRow& row) { return row.past + row.count >= last.past + last.count; };
  last.cache_row = std::find_if(rows.begin(), rows.end(), long_enough)->cache_row;
}

}  // namespace

template <typename T>
Arithmetic<T>::Arithmetic(const CacheLayout& layout, std::span<const AttentionLayer> layers, kernels::Target target,
                          int threads)
    : table_(kernels::TableFor<T>(target)) {
  int64_t rows = 0, head_dim_k = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const LayerShape& shape = layout.layers[i];
    layers_.push_back(OptionsOf<T>(layers[i], shape));
    const Geometry geometry{.kv_heads = shape.kv_heads, .group = layers[i].q_heads / shape.kv_heads};
    rows = std::max(rows, StepPlan::RowsMax(geometry));
    head_dim_k = std::max<int64_t>(head_dim_k, shape.head_dim_k);
    head_dim_v_max_ = std::max<int64_t>(head_dim_v_max_, shape.head_dim_v);
  }
  for (int i = 0; i < threads; ++i) scratch_.emplace_back(rows, head_dim_k, head_dim_v_max_);
}

template <typename T>
void Arithmetic<T>::ReserveStates(int64_t count) {
  if (count <= kept_count_) return;
  kept_memory_ = base::AlignedBuffer(static_cast<size_t>(count * (head_dim_v_max_ + 2)) * sizeof(T));
  kept_count_ = count;
}

template <typename T>
void Arithmetic<T>::RunTask(const TileContext<T>& context, const Task& task, int worker) {
  ComputeTask(context, task, scratch_[worker]);
  const Tile& tile = context.plan->tiles()[task.tile];
  if (tile.parts == 1) return;
  if (open_parts_[task.tile].fetch_sub(1, std::memory_order_acq_rel) == 1) MergeTile(context, tile, scratch_[worker]);
}

template <typename T>
void Arithmetic<T>::Run(const KvCache& cache, const StepPlan& plan, int layer, HeadArray<const T> q, HeadArray<T> out,
                        base::ThreadPool& pool) {
  if (plan.tiles().size() > open_parts_size_) {
    open_parts_size_ = plan.tiles().size();
    open_parts_ = std::make_unique<std::atomic<int64_t>[]>(open_parts_size_);
  }
  for (size_t i = 0; i < plan.tiles().size(); ++i)
    open_parts_[i].store(plan.tiles()[i].parts, std::memory_order_relaxed);
  T* const kept = kept_memory_.as<T>();
  const TileContext<T> context{
      .table = &table_,
      .options = &layers_[layer],
      .cache = &cache,
      .plan = &plan,
      .layer = layer,
      .q = q,
      .out = out,
      .kept = {kept, kept + kept_count_, kept + 2 * kept_count_, layers_[layer].shape.head_dim_v},
  };
  pool.ForEach(static_cast<int64_t>(plan.tasks().size()),
               [&](int64_t task, int worker) { RunTask(context, plan.tasks()[task], worker); });
}

AttentionCore::AttentionCore(const CacheLayout& layout, std::vector<AttentionLayer> layers, kernels::Target target,
                             base::ThreadPool& pool)
    : layout_(layout), pool_(pool) {
  const base::ScopedFpEnv environment;
  CheckLayers(layout, layers);
  for (size_t i = 0; i < layers.size(); ++i) {
    const int kv_heads = layout.layers[i].kv_heads;
    const Geometry geometry{kv_heads, layers[i].q_heads / kv_heads, layers[i].window, layers[i].sink_tokens};
    const auto same =
        std::find_if(plans_.begin(), plans_.end(), [&](const StepPlan& p) { return p.geometry() == geometry; });
    plan_of_.push_back(static_cast<int>(same - plans_.begin()));
    if (same == plans_.end()) plans_.emplace_back(geometry);
  }
  if (layout.dtype_k == DType::kF64)
    f64_ = std::make_unique<Arithmetic<double>>(layout, layers, target, pool.threads());
  else
    f32_ = std::make_unique<Arithmetic<float>>(layout, layers, target, pool.threads());
}

void AttentionCore::Plan(const Append& append, std::span<const int64_t> q_offset, std::span<const int64_t> out_offset) {
  const KvCache& cache = append.cache();
  if (cache.layout() != layout_) {
    Refuse("the cache has another layout than this attention was made for",
           fmt::format("cache of {} layers in {}/{}, attention of {} layers in {}/{}", cache.layout().layers.size(),
                       DTypeName(cache.layout().dtype_k), DTypeName(cache.layout().dtype_v), layout_.layers.size(),
                       DTypeName(layout_.dtype_k), DTypeName(layout_.dtype_v)),
           "make both from the same CacheLayout");
  }
  const auto row_count = static_cast<size_t>(append.rows());
  if (q_offset.size() != row_count || out_offset.size() != row_count) {
    Refuse("one query and one output offset per cache row are needed",
           fmt::format("{} rows, {} query offsets, {} output offsets", row_count, q_offset.size(), out_offset.size()),
           "");
  }
  rows_.clear();
  for (int r = 0; r < append.rows(); ++r) {
    if (append.count(r) > 0) rows_.push_back({r, append.past(r), append.count(r), q_offset[r], out_offset[r]});
  }
  if (base::Injected(base::Fault::kNeighbourRow) && rows_.size() > 1) ReadNeighbour(rows_);
  // What a row can hold: a paged cache may allow lengths that its blocks never reach.
  const int64_t room = std::min(cache.max_len(), static_cast<int64_t>(cache.bytes() / BytesPerToken(layout_)));
  int64_t states = 0;
  for (StepPlan& plan : plans_) {
    plan.Build(rows_, pool_.threads(), room);
    states = std::max(states, plan.states_max());
  }
  if (f32_) f32_->ReserveStates(states);
  if (f64_) f64_->ReserveStates(states);
  cache_ = &cache;
}

template <typename T>
void AttentionCore::RunAs(Arithmetic<T>* arithmetic, int layer, HeadArray<const T> q, HeadArray<T> out) {
  if (arithmetic == nullptr) {
    Refuse("queries and cache do not fit together",
           fmt::format("{} queries over {} keys", sizeof(T) == 8 ? "float64" : "float32", DTypeName(layout_.dtype_k)),
           "float64 queries read f64 caches, float32 queries the others");
  }
  if (layer < 0 || layer >= static_cast<int>(plan_of_.size())) {
    Refuse("no such attention layer", fmt::format("layer {} of {}", layer, plan_of_.size()), "");
  }
  if (cache_ == nullptr) Refuse("Run needs a planned step", "", "call Plan after BeginAppend");
  const base::ScopedFpEnv environment;
  arithmetic->Run(*cache_, plans_[plan_of_[layer]], layer, q, out, pool_);
}

void AttentionCore::Run(int layer, HeadArray<const float> q, HeadArray<float> out) { RunAs(f32_.get(), layer, q, out); }
void AttentionCore::Run(int layer, HeadArray<const double> q, HeadArray<double> out) {
  RunAs(f64_.get(), layer, q, out);
}

template class Arithmetic<float>;
template class Arithmetic<double>;

}  // namespace ekvi::attend
