// One task's computation: a tile of query rows over its chunks, or some of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attend/step_plan.h"
#include "base/aligned.h"
#include "ekvi/attention.h"
#include "ekvi/cache.h"
#include "kernels/kernels.h"

namespace ekvi::attend {

// A layer's options in the arithmetic's type.
template <typename T>
struct LayerOptions {
  LayerShape shape;
  int q_heads = 1;
  T scale = 1, soft_cap = 0;
  std::vector<T> slopes;       // empty or [q_heads]
  std::vector<T> sink_logits;  // empty or [q_heads]
};

// States of several query rows: max[row], sum[row], out[row, head_dim_v].
template <typename T>
struct StateRows {
  T* max;
  T* sum;
  T* out;
  int64_t out_stride;

  kernels::State<T> at(int64_t row) const { return {max + row, sum + row, out + row * out_stride}; }
  kernels::State<const T> read(int64_t row) const { return {max + row, sum + row, out + row * out_stride}; }
  StateRows from(int64_t row) const { return {max + row, sum + row, out + row * out_stride, out_stride}; }
};

// A worker's memory; sized once for the widest layer. Everything a task touches beside cache, queries and outputs.
template <typename T>
class Scratch {
 public:
  // `rows` of a tile, all heads together.
  Scratch(int64_t rows, int64_t head_dim_k, int64_t head_dim_v);

  T* q;                  // [rows, head_dim_k]
  T* scores;             // [rows, kChunkKeys]
  T* keys;               // [kChunkKeys / 16, head_dim_k, 16]: tiles of a token-major cache, repacked
  StateRows<T> chunk;    // of the chunk at hand
  StateRows<T> running;  // of the chunks before
  bool* started;         // [rows]: `running` holds something

 private:
  base::AlignedBuffer memory_;
  std::unique_ptr<bool[]> started_;
};

// What a job reads and writes. Outlives it.
template <typename T>
struct TileContext {
  const kernels::Table<T>* table;
  const LayerOptions<T>* options;
  const KvCache* cache;
  const StepPlan* plan;
  int layer;
  HeadArray<const T> q;
  HeadArray<T> out;
  StateRows<T> kept;  // states of tiles that were cut
};

// Computes the task's chunks. A tile in one piece is merged and written to out; the parts of a cut tile leave each
// chunk's state in context.kept.
template <typename T>
void ComputeTask(const TileContext<T>& context, const Task& task, Scratch<T>& scratch) noexcept;

// Merges a cut tile's kept states in the order of positions and writes out.
template <typename T>
void MergeTile(const TileContext<T>& context, const Tile& tile, Scratch<T>& scratch) noexcept;

}  // namespace ekvi::attend
