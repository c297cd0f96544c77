// A chunk of 256 keys takes three passes over a tile of query rows: scores (Q · Kᵀ), softmax row by row, outputs (P ·
// V). Where all rows see the same keys, outputs are one product. At the causal diagonal and at a window's edge the keys
// are cut at every row's limits; between two cuts the rows that see the piece are neighbours (limits only move up with
// the position), so each piece is a product of some of the rows, and a row meets its keys in ascending order whatever
// its neighbours see. What a row may not see is never multiplied into its output.
#include "attend/tile_job.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/fault.h"

namespace ekvi::attend {
namespace {

using kernels::kChunkKeys;
using kernels::KeyRange;
using kernels::kLanes;

constexpr int kChunkTiles = kChunkKeys / kLanes;
// Rows whose limits are looked at together where they differ: as many as a register tile has.
constexpr int64_t kRowBlock = 8;

struct RowKeys {
  KeyRange ranges[2];
  int count = 0;
  bool Sees(int begin, int end) const {
    for (int i = 0; i < count; ++i) {
      if (ranges[i].begin <= begin && end <= ranges[i].end) return true;
    }
    return false;
  }
  bool operator==(const RowKeys& other) const {
    for (int i = 0; i < count; ++i) {
      if (ranges[i].begin != other.ranges[i].begin || ranges[i].end != other.ranges[i].end) return false;
    }
    return count == other.count;
  }
};

// What a task comes to after the chunk at hand; chunk < 0: nothing.
struct NextPiece {
  int64_t chunk = -1;
  int kv_head = 0;
};

template <typename T>
class TileJob {
 public:
  // `place`: which tile of its task it is.
  TileJob(const TileContext<T>& context, const Tile& tile, int64_t place, Scratch<T>& scratch)
      : c_(context),
        tile_(tile),
        row_(c_.plan->rows()[tile.row]),
        scratch_(scratch),
        running_(scratch.running.from(place * tile.rows)),
        started_(scratch.started + place * tile.rows),
        shape_(c_.options->shape) {}

  void LoadQueries() {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      const T* from = c_.q.data + row_.q_offset + TokenOf(r) * c_.q.token_stride + HeadOf(r) * c_.q.head_stride;
      std::copy_n(from, shape_.head_dim_k, scratch_.q + r * shape_.head_dim_k);
    }
  }

  // The chunk's state into `states`; keys and values of `next` are fetched meanwhile.
  void Chunk(int64_t chunk, const NextPiece& next, StateRows<T> states) {
    chunk_ = chunk;
    FindKeys();
    if (begin_ >= end_) return;
    FindTiles();
    FindTilesAhead(next);
    ComputeScores();
    for (int64_t r = 0; r < tile_.rows; ++r) Softmax(r, states);
    ComputeOutputs(states);
  }

  // Row r's state goes on with the chunk at hand.
  void Merge(int64_t r, StateRows<T> chunk) {
    const kernels::State<T> running = running_.at(r);
    if (started_[r]) {
      c_.table->merge(running, chunk.read(r), shape_.head_dim_v);
    } else {
      const kernels::State<const T> first = chunk.read(r);
      *running.max = *first.max;
      *running.sum = *first.sum;
      std::copy_n(first.out, shape_.head_dim_v, running.out);
      started_[r] = true;
    }
  }
  void MergeRows(StateRows<T> chunk) {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      if (keys_[r].count > 0) Merge(r, chunk);
    }
  }

  // A learned sink logit is a key of score `logit` and value zero, seen before all others.
  void Start() {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      started_[r] = !c_.options->sink_logits.empty();
      if (!started_[r]) continue;
      const kernels::State<T> state = running_.at(r);
      *state.max = c_.options->sink_logits[HeadOf(r)];
      *state.sum = 1;
      std::fill_n(state.out, shape_.head_dim_v, T(0));
    }
  }

  void Finish() {
    for (int64_t r = 0; r < tile_.rows; ++r) {
      T* out = c_.out.data + row_.out_offset + TokenOf(r) * c_.out.token_stride + HeadOf(r) * c_.out.head_stride;
      if (started_[r])
        c_.table->finish(running_.read(r), out, shape_.head_dim_v);
      else
        std::fill_n(out, shape_.head_dim_v, T(0));
    }
  }

  // Only which rows see the chunk; for merging kept states.
  void LookAt(int64_t chunk) {
    chunk_ = chunk;
    FindKeys();
  }

 private:
  int64_t TokenOf(int64_t r) const { return (tile_.first + r) / c_.plan->geometry().group; }
  int64_t HeadOf(int64_t r) const {
    const int group = c_.plan->geometry().group;
    return static_cast<int64_t>(tile_.kv_head) * group + (tile_.first + r) % group;
  }

  void FindKeys() {
    begin_ = kChunkKeys;
    end_ = 0;
    uniform_ = true;
    for (int64_t r = 0; r < tile_.rows; ++r) {
      RowKeys& keys = keys_[r];
      keys.count = RangesInChunk(c_.plan->SeenBy(tile_, r), chunk_, keys.ranges);
      uniform_ = uniform_ && keys == keys_[0];
      if (keys.count == 0) continue;
      begin_ = std::min(begin_, keys.ranges[0].begin);
      end_ = std::max(end_, keys.ranges[keys.count - 1].end);
    }
  }

  // Addresses of the tiles between the first and the last key that is seen; token-major keys are repacked.
  void FindTiles() {
    first_tile_ = begin_ / kLanes;
    tile_count_ = (end_ + kLanes - 1) / kLanes - first_tile_;
    const TileGeometry geometry = c_.cache->Geometry(c_.layer);
    const std::span<const std::byte*> k(k_tiles_.data() + first_tile_, tile_count_);
    const std::span<const std::byte*> v(v_tiles_.data() + first_tile_, tile_count_);
    c_.cache->Tiles(c_.layer, row_.cache_row, chunk_ * kChunkTiles + first_tile_, k, v);
    for (int i = 0; i < tile_count_; ++i) {
      k[i] += tile_.kv_head * geometry.k_head_bytes;
      v[i] += tile_.kv_head * geometry.v_head_bytes;
    }
    if (geometry.key_order == KeyOrder::kTokenMajor) RepackKeys(k);
  }

  // Of the next piece, the tiles at the same places; where it has none, the tile at hand again, which costs nothing.
  void FindTilesAhead(const NextPiece& next) {
    ahead_ = next.chunk >= 0;
    if (!ahead_) return;
    const int64_t tokens = row_.past + row_.count - next.chunk * kChunkKeys;
    const auto count = static_cast<size_t>(std::clamp<int64_t>((tokens + kLanes - 1) / kLanes, 0, kChunkTiles));
    k_ahead_ = k_tiles_;
    v_ahead_ = v_tiles_;
    const TileGeometry geometry = c_.cache->Geometry(c_.layer);
    c_.cache->Tiles(c_.layer, row_.cache_row, next.chunk * kChunkTiles, std::span(k_ahead_).first(count),
                    std::span(v_ahead_).first(count));
    for (size_t i = 0; i < count; ++i) {
      k_ahead_[i] += next.kv_head * geometry.k_head_bytes;
      v_ahead_[i] += next.kv_head * geometry.v_head_bytes;
    }
  }

  void RepackKeys(std::span<const std::byte*> k) {
    const int64_t total = row_.past + row_.count;
    for (size_t i = 0; i < k.size(); ++i) {
      const int64_t first_token = chunk_ * kChunkKeys + (first_tile_ + static_cast<int64_t>(i)) * kLanes;
      T* packed = scratch_.keys + static_cast<int64_t>(i) * kLanes * shape_.head_dim_k;
      c_.table->pack_keys({.k = k[i],
                           .k_type = c_.cache->layout().dtype_k,
                           .d = shape_.head_dim_k,
                           .tokens = std::min<int64_t>(kLanes, total - first_token),
                           .out = packed});
      k[i] = reinterpret_cast<const std::byte*>(packed);
    }
    packed_ = true;
  }

  void ComputeScores() {
    constexpr DType kOwn = sizeof(T) == 8 ? DType::kF64 : DType::kF32;
    c_.table->scores({.q = scratch_.q,
                      .q_stride = shape_.head_dim_k,
                      .tiles = k_tiles_.data() + first_tile_,
                      .k_type = packed_ ? kOwn : c_.cache->layout().dtype_k,
                      .scores = scratch_.scores + first_tile_ * kLanes,
                      .scores_stride = kChunkKeys,
                      .m = tile_.rows,
                      .d = shape_.head_dim_k,
                      .tile_count = tile_count_,
                      .ahead = ahead_ ? k_ahead_.data() + first_tile_ : nullptr});
  }

  void Softmax(int64_t r, StateRows<T> states) {
    const RowKeys& keys = keys_[r];
    if (keys.count == 0) return;
    const LayerOptions<T>& options = *c_.options;
    c_.table->softmax_row({.scores = scratch_.scores + r * kChunkKeys,
                           .scale = options.scale,
                           .soft_cap = options.soft_cap,
                           .slope = options.slopes.empty() ? T(0) : options.slopes[HeadOf(r)],
                           .distance = chunk_ * kChunkKeys - (row_.past + TokenOf(r)),
                           .ranges = {keys.ranges[0], keys.ranges[1]},
                           .range_count = keys.count,
                           .max = states.max + r,
                           .sum = states.sum + r});
  }

  void Outputs(int64_t first_row, int64_t rows, KeyRange keys, bool fresh, StateRows<T> states) {
    c_.table->outputs({.p = scratch_.scores + first_row * kChunkKeys,
                       .p_stride = kChunkKeys,
                       .tiles = v_tiles_.data(),
                       .v_type = c_.cache->layout().dtype_v,
                       .out = states.out + first_row * states.out_stride,
                       .out_stride = states.out_stride,
                       .m = rows,
                       .d = shape_.head_dim_v,
                       .begin = keys.begin,
                       .end = keys.end,
                       .fresh = fresh,
                       .ahead = ahead_ && keys.begin == begin_ && first_row == 0 ? v_ahead_.data() : nullptr});
  }

  void ComputeOutputs(StateRows<T> states) {
    if (uniform_) {
      for (int i = 0; i < keys_[0].count; ++i) Outputs(0, tile_.rows, keys_[0].ranges[i], i == 0, states);
      return;
    }
    for (int64_t first = 0; first < tile_.rows; first += kRowBlock) {
      OutputsInPieces(first, std::min(kRowBlock, tile_.rows - first), states);
    }
  }

  void OutputsInPieces(int64_t first, int64_t rows, StateRows<T> states) {
    std::array<int, 4 * kRowBlock> cuts;
    int cut_count = 0;
    for (int64_t r = first; r < first + rows; ++r) {
      std::fill_n(states.out + r * states.out_stride, shape_.head_dim_v, T(0));
      for (int i = 0; i < keys_[r].count; ++i) {
        cuts[cut_count++] = keys_[r].ranges[i].begin;
        cuts[cut_count++] = keys_[r].ranges[i].end;
      }
    }
    std::sort(cuts.begin(), cuts.begin() + cut_count);
    for (int i = 0; i + 1 < cut_count; ++i) {
      if (cuts[i] < cuts[i + 1]) OutputsOfPiece(first, rows, {cuts[i], cuts[i + 1]}, states);
    }
  }

  void OutputsOfPiece(int64_t first, int64_t rows, KeyRange piece, StateRows<T> states) {
    int64_t begin = first;
    const int64_t end = first + rows;
    while (begin < end && !keys_[begin].Sees(piece.begin, piece.end)) ++begin;
    int64_t seen_end = begin;
    while (seen_end < end && keys_[seen_end].Sees(piece.begin, piece.end)) ++seen_end;
    if (begin < seen_end) Outputs(begin, seen_end - begin, piece, false, states);
  }

  static constexpr int64_t kRowsMax = 256;

  const TileContext<T>& c_;
  const Tile& tile_;
  const PlanRow& row_;
  Scratch<T>& scratch_;
  StateRows<T> running_;
  bool* started_;
  const LayerShape& shape_;

  int64_t chunk_ = 0;
  int begin_ = 0, end_ = 0;  // keys of the chunk that any row sees
  bool uniform_ = true;      // all rows see the same
  bool packed_ = false;
  int first_tile_ = 0, tile_count_ = 0;
  bool ahead_ = false;  // there is a next piece, and its tiles are known
  std::array<const std::byte*, kChunkTiles> k_tiles_, v_tiles_, k_ahead_, v_ahead_;
  std::array<RowKeys, kRowsMax> keys_;
};

// The kept states of a cut tile's chunk.
template <typename T>
StateRows<T> Kept(const TileContext<T>& context, const Tile& tile, int64_t chunk_index) {
  return context.kept.from(tile.state_first + chunk_index * tile.rows);
}

}  // namespace

template <typename T>
Scratch<T>::Scratch(int64_t rows, int64_t task_rows, int64_t head_dim_k, int64_t head_dim_v)
    : started_(std::make_unique<bool[]>(static_cast<size_t>(task_rows))) {
  const auto round = [](int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; };
  const int64_t sizes[] = {round(rows * head_dim_k),
                           rows * kChunkKeys,
                           kChunkKeys * head_dim_k,
                           round(rows),
                           round(rows),
                           round(rows * head_dim_v),
                           round(task_rows),
                           round(task_rows),
                           round(task_rows * head_dim_v)};
  int64_t total = 0;
  for (const int64_t size : sizes) total += size;
  memory_ = base::AlignedBuffer(static_cast<size_t>(total) * sizeof(T));
  T* parts[std::size(sizes)];
  T* next = memory_.as<T>();
  for (size_t i = 0; i < std::size(sizes); ++i) {
    parts[i] = next;
    next += sizes[i];
  }
  q = parts[0], scores = parts[1], keys = parts[2];
  chunk = {parts[3], parts[4], parts[5], head_dim_v};
  running = {parts[6], parts[7], parts[8], head_dim_v};
  started = started_.get();
}

template <typename T>
void ComputeTask(const TileContext<T>& context, const Task& task, Scratch<T>& scratch) noexcept {
  const std::span<const Tile> tiles = context.plan->tiles().subspan(task.tile, task.tile_count);
  const bool kept = tiles[0].parts > 1;
  StateRows<T> states = scratch.chunk;
  states.out_stride = context.options->shape.head_dim_v;
  const auto last = static_cast<int64_t>(tiles.size()) - 1;
  const auto next = [&](int64_t chunk, int64_t t) -> NextPiece {
    const bool same = t < last;
    if (!same && chunk + 1 == task.chunk_end) return {};
    return {tiles[0].chunks.at(same ? chunk : chunk + 1), tiles[same ? t + 1 : 0].kv_head};
  };
  std::optional<TileJob<T>> job;
  const auto take = [&](int64_t t) {
    if (job && last == 0) return;
    job.emplace(context, tiles[t], t, scratch);
    job->LoadQueries();
  };
  for (int64_t t = 0; t <= last && !kept; ++t) take(t), job->Start();
  for (int64_t i = task.chunk_begin; i < task.chunk_end; ++i) {
    for (int64_t t = 0; t <= last; ++t) {
      take(t);
      job->Chunk(tiles[t].chunks.at(i), next(i, t), kept ? Kept(context, tiles[t], i) : states);
      if (!kept) job->MergeRows(states);
    }
  }
  for (int64_t t = 0; t <= last && !kept; ++t) take(t), job->Finish();
}

template <typename T>
void MergeTile(const TileContext<T>& context, const Tile& tile, Scratch<T>& scratch) noexcept {
  TileJob<T> job(context, tile, 0, scratch);
  const int64_t count = tile.chunks.count();
  const bool swapped = base::Injected(base::Fault::kChunkMerge) && count > 1;
  job.Start();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = swapped && i < 2 ? 1 - i : i;
    job.LookAt(tile.chunks.at(index));
    job.MergeRows(Kept(context, tile, index));
  }
  job.Finish();
}

template class Scratch<float>;
template class Scratch<double>;
template void ComputeTask(const TileContext<float>&, const Task&, Scratch<float>&) noexcept;
template void ComputeTask(const TileContext<double>&, const Task&, Scratch<double>&) noexcept;
template void MergeTile(const TileContext<float>&, const Tile&, Scratch<float>&) noexcept;
template void MergeTile(const TileContext<double>&, const Tile&, Scratch<double>&) noexcept;

}  // namespace ekvi::attend
