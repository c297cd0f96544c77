#include "attend/step_plan.h"

#include <algorithm>

#include "base/fault.h"

namespace ekvi::attend {
namespace {

// Query rows of a KV head up to which its tile joins the next head's: with more, arithmetic takes so long that the
// order of memory is nothing. Query rows of a tile of several KV heads: scores of 128 KiB, half of a second cache's
// least.
constexpr int64_t kFewRows = 16, kJoinedRows = 128;

int64_t Cost(const Tile& tile) { return tile.all_rows() * tile.chunks.count(); }

}  // namespace

int64_t StepPlan::RowsMax(const Geometry& geometry) {
  const int64_t joined = geometry.group <= kFewRows ? std::min(geometry.kv_heads * kFewRows, kJoinedRows) : 0;
  return std::max(TileRows(geometry.group), joined);
}

int64_t StepPlan::TileRows(int group) {
  constexpr int64_t kRows = 72, kRowsMax = 256;
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

// Neighbouring tiles of few rows that differ in the KV head only become one, as long as it has the chunks to be cut
// into shares.
void StepPlan::JoinTiles(int64_t share) {
  size_t kept = 0;
  for (size_t t = 0; t < tiles_.size();) {
    Tile& tile = tiles_[kept++];
    tile = tiles_[t];
    if (tile.rows <= kFewRows && tile.rows == rows_[tile.row].count * geometry_.group) {
      const int64_t fit = std::min(kJoinedRows, share) / tile.rows;  // heads of which one chunk is at most a share
      tile.kv_heads = static_cast<int>(std::clamp<int64_t>(fit, 1, geometry_.kv_heads - tile.kv_head));
    }
    t += static_cast<size_t>(tile.kv_heads);
  }
  tiles_.resize(kept);
}

// Tiles that cost more than a share are cut.
void StepPlan::CutTiles(int64_t share) {
  for (size_t t = 0; t < tiles_.size(); ++t) {
    Tile& tile = tiles_[t];
    const int64_t chunks = tile.chunks.count();
    tile.parts = std::clamp<int64_t>((Cost(tile) + share - 1) / share, 1, std::max<int64_t>(chunks, 1));
    tile.state_first = states_;
    if (tile.parts > 1) states_ += chunks * tile.all_rows();
    for (int64_t p = 0; p < tile.parts; ++p) {
      tasks_.push_back({static_cast<int>(t), chunks * p / tile.parts, chunks * (p + 1) / tile.parts});
    }
  }
}

// The most states that rows of these counts can ever need, however long they are: fewer tiles than shares are cut, and
// together they have no more query rows than there are.
void StepPlan::BoundStates(int threads, int64_t max_len) {
  if (threads == 1) return;
  const int64_t chunks_max = (std::max<int64_t>(max_len, 1) - 1) / kernels::kChunkKeys + 1;
  int64_t rows = 0;
  for (const Tile& tile : tiles_) rows += tile.all_rows();
  states_max_ = std::max(states_, chunks_max * std::min(rows, 2 * int64_t{threads} * RowsMax(geometry_)));
}

void StepPlan::AddTasks(int threads, int64_t max_len) {
  int64_t total = 0;
  for (const Tile& tile : tiles_) total += Cost(tile);
  const int64_t share = std::max<int64_t>(1, threads == 1 ? total : total / (2 * int64_t{threads}));
  JoinTiles(share);
  tasks_.reserve(tiles_.size() + 2 * static_cast<size_t>(threads));
  CutTiles(share);
  BoundStates(threads, max_len);
  const auto cost = [&](const Task& task) {
    return tiles_[task.tile].all_rows() * (task.chunk_end - task.chunk_begin);
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
