// A step cut into tasks: once per step, for all layers that share a geometry.
//
// A tile is some query rows of one cache row and one KV head: (token, query head of the group) pairs, token-major, so
// that a KV head is read once for its whole group. With few query rows memory decides, and is read faster in one piece:
// a cache holds the heads of a block side by side, so a tile then takes several neighbouring KV heads.
//
// A task is a tile, or a stretch of its chunks where the tile is more than half of a thread's part of the step. Every
// chunk's state is then kept apart, and the last worker of the tile merges them in the order of positions: no bit
// changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "attend/visible.h"
#include "ekvi/cache.h"

namespace ekvi::attend {

// What of a layer decides its tasks.
struct Geometry {
  int kv_heads = 1;
  int group = 1;
  int64_t window = 0;
  int64_t sink_tokens = 0;
  bool operator==(const Geometry&) const = default;
};

// One cache row's part of the step.
struct PlanRow {
  int cache_row = 0;
  int64_t past = 0;
  int64_t count = 0;
  int64_t q_offset = 0;    // elements
  int64_t out_offset = 0;  // elements
};

struct Tile {
  int row = 0;  // index of its PlanRow
  int kv_head = 0, kv_heads = 1;
  int64_t first = 0;  // first query row of each head: token first / group, head first % group of the group
  int64_t rows = 0;   // of each KV head
  ChunkList chunks;
  int64_t parts = 1;        // tasks it was cut into
  int64_t state_first = 0;  // parts > 1: its first kept state; [chunk index, KV head, row]

  int64_t all_rows() const { return kv_heads * rows; }
};

struct Task {
  int tile = 0;
  int64_t chunk_begin = 0, chunk_end = 0;  // indices into the tile's chunk list
};

class StepPlan {
 public:
  explicit StepPlan(const Geometry& geometry) : geometry_(geometry) {}

  // `max_len` bounds the chunks of later steps, so that nothing needs to grow while a row does.
  void Build(std::span<const PlanRow> rows, int threads, int64_t max_len);

  const Geometry& geometry() const { return geometry_; }
  std::span<const PlanRow> rows() const { return rows_; }
  std::span<const Tile> tiles() const { return tiles_; }
  std::span<const Task> tasks() const { return tasks_; }
  // Kept states this step, and the most that steps of this shape can need.
  int64_t states() const { return states_; }
  int64_t states_max() const { return states_max_; }
  // What query row `index` of a tile sees.
  VisibleKeys SeenBy(const Tile& tile, int64_t index) const {
    return Seen(rows_[tile.row], (tile.first + index) / geometry_.group);
  }

  // Query rows of a tile at most: whole groups up to 72 rows, one group when it is larger, 256 in any case. Registers
  // take 6 or 8 rows at a time, and 72 scores over 256 keys (72 KiB) stay in the second cache.
  static int64_t TileRows(int group);
  // Query rows of a tile with all its KV heads, at most.
  static int64_t RowsMax(const Geometry& geometry);

 private:
  VisibleKeys Seen(const PlanRow& row, int64_t token) const;
  void AddTiles(int row_index);
  void AddTasks(int threads, int64_t max_len);
  void JoinTiles(int64_t share);
  void CutTiles(int64_t share);
  void BoundStates(int threads, int64_t max_len);

  Geometry geometry_;
  std::vector<PlanRow> rows_;
  std::vector<Tile> tiles_;
  std::vector<Task> tasks_;
  int64_t states_ = 0, states_max_ = 0;
};

}  // namespace ekvi::attend
