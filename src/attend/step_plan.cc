#include "attend/step_plan.h"

#include <algorithm>

#include "base/fault.h"

namespace ekvi::attend {
namespace {

// Query rows of a tile up to which memory decides.
constexpr int64_t kFewRows = 16;

}  // namespace

int64_t StepPlan::TaskRows(const Geometry& geometry) {
  const int64_t heads = geometry.group <= kFewRows ? geometry.kv_heads : 1;
  return std::max(TileRows(geometry.group), heads * kFewRows);
}

int64_t StepPlan::TileRows(int group) {
  constexpr int64_t kRows = 64, kRowsMax = 256;
  return group > kRows ? std::min<int64_t>(group, kRowsMax) : kRows / group * group;
}

VisibleKeys StepPlan::Seen(const PlanRow& row, int64_t token) const {
  VisibleKeys keys = VisibleFrom(row.past + token, geometry_.window, geometry_.sink_tokens);
  if (row.count > 1) {
    if (base::Injected(base::Fault::kMaskOffByOne)) keys.end = std::max(keys.end - 1, keys.begin + 1);
    if (base::Injected(base::Fault::kFutureLeak)) keys.end = std::min(keys.end + 1, row.past + row.count);
  }
  return keys;
}

void StepPlan::AddTiles(int row_index) {
  const PlanRow& row = rows_[row_index];
  const int64_t query_rows = row.count * geometry_.group, tile_rows = TileRows(geometry_.group);
  for (int kv_head = 0; kv_head < geometry_.kv_heads; ++kv_head) {
    for (int64_t first = 0; first < query_rows; first += tile_rows) {
      Tile tile;
      tile.row = row_index;
      tile.kv_head = kv_head;
      tile.first = first;
      tile.rows = std::min(tile_rows, query_rows - first);
      tile.chunks = ChunksOf(SeenBy(tile, 0), SeenBy(tile, tile.rows - 1));
      tiles_.push_back(tile);
    }
  }
}

// Whole tiles become tasks: as many neighbouring ones of few rows together as leave two tasks for each thread.
void StepPlan::JoinTiles(int threads) {
  const auto cost = [&](const Tile& tile) { return tile.rows * tile.chunks.count(); };
  int64_t total = 0;
  for (const Tile& tile : tiles_) total += cost(tile);
  const int64_t share = threads == 1 ? total : total / (2 * int64_t{threads});
  for (size_t t = 0; t < tiles_.size();) {
    const Tile& tile = tiles_[t];
    int64_t heads = 1;
    if (tile.rows <= kFewRows && tile.rows == rows_[tile.row].count * geometry_.group) {
      const int64_t fit = share / std::max<int64_t>(1, cost(tile));
      heads = std::clamp<int64_t>(fit, 1, geometry_.kv_heads - tile.kv_head);
    }
    tasks_.push_back({static_cast<int>(t), static_cast<int>(heads), 0, tile.chunks.count()});
    t += static_cast<size_t>(heads);
  }
}

void StepPlan::CutTiles(int64_t parts, int64_t max_len) {
  // A row of a paged cache may be allowed lengths that its blocks never reach: room is made for 2 million tokens.
  const int64_t chunks_max = std::min<int64_t>((std::max<int64_t>(max_len, 1) - 1) / kernels::kChunkKeys + 1, 1 << 13);
  for (size_t t = 0; t < tiles_.size(); ++t) {
    Tile& tile = tiles_[t];
    const int64_t chunks = tile.chunks.count();
    tile.parts = std::min(parts, chunks);
    tile.state_first = states_;
    if (tile.parts > 1) states_ += chunks * tile.rows;
    states_max_ += std::max(chunks, chunks_max) * tile.rows;
    for (int64_t p = 0; p < tile.parts; ++p) {
      tasks_.push_back({static_cast<int>(t), 1, chunks * p / tile.parts, chunks * (p + 1) / tile.parts});
    }
  }
}

void StepPlan::AddTasks(int threads, int64_t max_len) {
  const auto tile_count = static_cast<int64_t>(tiles_.size());
  const int64_t wanted = 2 * static_cast<int64_t>(threads);
  tasks_.reserve(static_cast<size_t>(std::max(tile_count, 2 * wanted)));
  if (threads > 1 && tile_count > 0 && tile_count < wanted)
    CutTiles((wanted + tile_count - 1) / tile_count, max_len);
  else
    JoinTiles(threads);
  const auto cost = [&](const Task& task) {
    return tiles_[task.tile].rows * task.tile_count * (task.chunk_end - task.chunk_begin);
  };
  std::sort(tasks_.begin(), tasks_.end(), [&](const Task& a, const Task& b) { return cost(a) > cost(b); });
}

void StepPlan::Build(std::span<const PlanRow> rows, int threads, int64_t max_len) {
  rows_.assign(rows.begin(), rows.end());
  tiles_.clear();
  tasks_.clear();
  states_ = states_max_ = 0;
  for (int r = 0; r < static_cast<int>(rows_.size()); ++r) {
    if (rows_[r].count > 0) AddTiles(r);
  }
  AddTasks(threads, max_len);
}

}  // namespace ekvi::attend
