// A chunk of 256 keys takes three passes over a tile of query rows: scores (Q · Kᵀ), softmax row by row, outputs (P ·
// V). Where all rows see the same keys, outputs are one product. At the causal diagonal and at a window's edge the keys
// are cut at every row's limits; between two cuts the rows that see the piece are neighbours (limits only move up with
// the position), so each piece is a product of some of the rows, and a row meets its keys in ascending order whatever
// its neighbours see. What a row may not see is never multiplied into its output.
#include "attend/tile_job.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

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

template <typename T>
class TileJob {
 public:
  TileJob(const TileContext<T>& context, const Tile& tile, Scratch<T>& scratch)
      : c_(context),
        tile_(tile),
        row_(c_.plan->rows()[tile.row]),
        scratch_(scratch),
        running_(scratch.running),
        started_(scratch.started),
        shape_(c_.options->shape),
        geometry_(c_.cache->Geometry(c_.layer)),
        streams_(tile.rows <= (DTypeBytes(c_.cache->layout().dtype_k, 1) < sizeof(float) ? 1 : 4)) {}

  void LoadQueries() {
    for (int64_t r = 0; r < tile_.all_rows(); ++r) {
      const T* from = c_.q.data + row_.q_offset + TokenOf(r) * c_.q.token_stride + HeadOf(r) * c_.q.head_stride;
      std::copy_n(from, shape_.head_dim_k, scratch_.q + r * shape_.head_dim_k);
    }
  }

  // The chunk's state into `states`; keys and values of chunk `next`, if any (< 0: none), are fetched meanwhile.
  void Chunk(int64_t chunk, int64_t next, StateRows<T> states) {
    chunk_ = chunk;
    FindKeys();
    if (begin_ >= end_) return;
    FindTiles();
    FindTilesAhead(next);
    ForRuns(begin_, end_, [&](int head, KeyRange run) { ComputeScores(head, run); });
    Softmax(states);
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
    for (int64_t r = 0; r < tile_.all_rows(); ++r) {
      if (KeysOf(r).count > 0) Merge(r, chunk);
    }
  }

  // A learned sink logit is a key of score `logit` and value zero, seen before all others.
  void Start() {
    for (int64_t r = 0; r < tile_.all_rows(); ++r) {
      started_[r] = !c_.options->sink_logits.empty();
      if (!started_[r]) continue;
      const kernels::State<T> state = running_.at(r);
      *state.max = c_.options->sink_logits[HeadOf(r)];
      *state.sum = 1;
      std::fill_n(state.out, shape_.head_dim_v, T(0));
    }
  }

  void Finish() {
    for (int64_t r = 0; r < tile_.all_rows(); ++r) {
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
  // Rows of a tile are numbered head by head.
  int64_t TokenOf(int64_t r) const { return (tile_.first + r % tile_.rows) / c_.plan->geometry().group; }
  int64_t HeadOf(int64_t r) const {
    const int group = c_.plan->geometry().group;
    return (tile_.kv_head + r / tile_.rows) * group + (tile_.first + r % tile_.rows) % group;
  }
  const RowKeys& KeysOf(int64_t r) const { return keys_[r % tile_.rows]; }

  // body(head of the tile, keys) for all heads and the keys begin … end: in the order of memory where memory limits,
  // stretch by stretch that lies in one piece; else head by head.
  template <typename Body>
  void ForRuns(int begin, int end, const Body& body) {
    const int64_t first = chunk_ * kChunkKeys, run_keys = geometry_.run_tiles * kLanes;
    while (begin < end) {
      const int64_t run_end = streams_ ? ((first + begin) / run_keys + 1) * run_keys - first : end;
      const int stop = static_cast<int>(std::min<int64_t>(end, run_end));
      for (int head = 0; head < tile_.kv_heads; ++head) body(head, KeyRange{begin, stop});
      begin = stop;
    }
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

  // Addresses of the tiles between the first and the last key that is seen, in the tile's first head.
  void FindTiles() {
    const int first = begin_ / kLanes, count = (end_ + kLanes - 1) / kLanes - first;
    Locate(chunk_ * kChunkTiles + first, std::span(k_tiles_).subspan(first, count),
           std::span(v_tiles_).subspan(first, count));
  }
  void Locate(int64_t first_tile, std::span<const std::byte*> k, std::span<const std::byte*> v) const {
    c_.cache->Tiles(c_.layer, row_.cache_row, first_tile, k, v);
    for (size_t i = 0; i < k.size(); ++i) {
      k[i] += tile_.kv_head * geometry_.k_head_bytes;
      v[i] += tile_.kv_head * geometry_.v_head_bytes;
    }
  }
  // The same tiles of another head, `way` bytes on.
  using TileList = std::array<const std::byte*, kChunkTiles>;
  static const std::byte* const* OfHead(const TileList& tiles, int64_t way, KeyRange keys, TileList& out) {
    if (way == 0) return tiles.data();
    for (int i = keys.begin / kLanes; i * kLanes < keys.end; ++i) out[i] = tiles[i] + way;
    return out.data();
  }
  // What is read after `keys` of a head: those of the next head, or of the next chunk's first; null: not known.
  const std::byte* const* Ahead(const TileList& tiles, const TileList& next, int head, int64_t head_bytes,
                                KeyRange keys) {
    if (streams_) return nullptr;
    if (head + 1 < tile_.kv_heads) return OfHead(tiles, (head + 1) * head_bytes, keys, ahead_of_head_);
    return has_next_ ? next.data() : nullptr;
  }

  // The tiles at the same places of the next chunk; where it has none, the tile at hand again, which costs nothing.
  void FindTilesAhead(int64_t next) {
    has_next_ = next >= 0 && !streams_;
    if (!has_next_) return;
    const int64_t tokens = row_.past + row_.count - next * kChunkKeys;
    const auto count = static_cast<size_t>(std::clamp<int64_t>((tokens + kLanes - 1) / kLanes, 0, kChunkTiles));
    k_next_ = k_tiles_;
    v_next_ = v_tiles_;
    Locate(next * kChunkTiles, std::span(k_next_).first(count), std::span(v_next_).first(count));
  }

  // Token-major keys as the kernels want them, in the arithmetic's own type.
  void RepackKeys(int64_t way, int first, int end) {
    const int64_t total = row_.past + row_.count;
    for (int i = first; i < end; ++i) {
      T* packed = scratch_.keys + static_cast<int64_t>(i) * kLanes * shape_.head_dim_k;
      c_.table->pack_keys({.k = k_tiles_[i] + way,
                           .k_type = c_.cache->layout().dtype_k,
                           .d = shape_.head_dim_k,
                           .tokens = std::min<int64_t>(kLanes, total - chunk_ * kChunkKeys - i * kLanes),
                           .out = packed});
      of_head_[i] = reinterpret_cast<const std::byte*>(packed);
    }
  }

  // Scores of whole tiles.
  void ComputeScores(int head, KeyRange keys) {
    constexpr DType kOwn = sizeof(T) == 8 ? DType::kF64 : DType::kF32;
    const int first = keys.begin / kLanes, end = (keys.end + kLanes - 1) / kLanes;
    const int64_t way = head * geometry_.k_head_bytes;
    const bool repack = geometry_.key_order == KeyOrder::kTokenMajor;
    if (repack) RepackKeys(way, first, end);
    // Repacked keys have another size than those ahead, unless the cache's type is the arithmetic's.
    const bool same_size = !repack || c_.cache->layout().dtype_k == kOwn;
    const std::byte* const* ahead = same_size ? Ahead(k_tiles_, k_next_, head, geometry_.k_head_bytes, keys) : nullptr;
    c_.table->scores({.q = scratch_.q + head * tile_.rows * shape_.head_dim_k,
                      .q_stride = shape_.head_dim_k,
                      .tiles = (repack ? of_head_.data() : OfHead(k_tiles_, way, keys, of_head_)) + first,
                      .k_type = repack ? kOwn : c_.cache->layout().dtype_k,
                      .scores = scratch_.scores + head * tile_.rows * kChunkKeys + first * kLanes,
                      .scores_stride = kChunkKeys,
                      .m = tile_.rows,
                      .d = shape_.head_dim_k,
                      .tile_count = end - first,
                      .ahead = ahead != nullptr ? ahead + first : nullptr});
  }

  void Softmax(StateRows<T> states) {
    std::array<kernels::SoftmaxRow<T>, kRowBlock> rows;
    int64_t count = 0;
    for (int64_t r = 0; r < tile_.all_rows(); ++r) {
      if (KeysOf(r).count > 0) rows[count++] = SoftmaxOf(r, states);
      if (count == kRowBlock || r + 1 == tile_.all_rows()) c_.table->softmax(rows.data(), std::exchange(count, 0));
    }
  }
  kernels::SoftmaxRow<T> SoftmaxOf(int64_t r, StateRows<T> states) {
    const RowKeys& keys = KeysOf(r);
    const LayerOptions<T>& options = *c_.options;
    return {.scores = scratch_.scores + r * kChunkKeys,
            .scale = options.scale,
            .soft_cap = options.soft_cap,
            .slope = options.slopes.empty() ? T(0) : options.slopes[HeadOf(r)],
            .distance = chunk_ * kChunkKeys - (row_.past + TokenOf(r)),
            .ranges = {keys.ranges[0], keys.ranges[1]},
            .range_count = keys.count,
            .max = states.max + r,
            .sum = states.sum + r};
  }

  // Of some rows of one head.
  void Outputs(int64_t first_row, int64_t rows, KeyRange keys, bool fresh, StateRows<T> states) {
    const int head = static_cast<int>(first_row / tile_.rows);
    const bool first = keys.begin == begin_ && first_row % tile_.rows == 0;
    const int64_t head_bytes = geometry_.v_head_bytes;
    c_.table->outputs({.p = scratch_.scores + first_row * kChunkKeys,
                       .p_stride = kChunkKeys,
                       .tiles = OfHead(v_tiles_, head * head_bytes, keys, of_head_),
                       .v_type = c_.cache->layout().dtype_v,
                       .out = states.out + first_row * states.out_stride,
                       .out_stride = states.out_stride,
                       .m = rows,
                       .d = shape_.head_dim_v,
                       .begin = keys.begin,
                       .end = keys.end,
                       .fresh = fresh,
                       .ahead = first ? Ahead(v_tiles_, v_next_, head, head_bytes, keys) : nullptr});
  }

  void ComputeOutputs(StateRows<T> states) {
    if (uniform_) {
      for (int i = 0; i < keys_[0].count; ++i) {
        const KeyRange range = keys_[0].ranges[i];
        ForRuns(range.begin, range.end, [&](int head, KeyRange run) {
          Outputs(head * tile_.rows, tile_.rows, run, i == 0 && run.begin == range.begin, states);
        });
      }
      return;
    }
    for (int head = 0; head < tile_.kv_heads; ++head) {
      for (int64_t first = 0; first < tile_.rows; first += kRowBlock) {
        OutputsInPieces(head * tile_.rows + first, std::min(kRowBlock, tile_.rows - first), states);
      }
    }
  }

  void OutputsInPieces(int64_t first, int64_t rows, StateRows<T> states) {
    std::array<int, 4 * kRowBlock> cuts;
    int cut_count = 0;
    for (int64_t r = first; r < first + rows; ++r) {
      std::fill_n(states.out + r * states.out_stride, shape_.head_dim_v, T(0));
      for (int i = 0; i < KeysOf(r).count; ++i) {
        cuts[cut_count++] = KeysOf(r).ranges[i].begin;
        cuts[cut_count++] = KeysOf(r).ranges[i].end;
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
    while (begin < end && !KeysOf(begin).Sees(piece.begin, piece.end)) ++begin;
    int64_t seen_end = begin;
    while (seen_end < end && KeysOf(seen_end).Sees(piece.begin, piece.end)) ++seen_end;
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
  TileGeometry geometry_;
  // So few rows that arithmetic waits for memory, and its order decides; halves cost a conversion besides. Measured:
  // docs/decisions/0014.
  bool streams_;

  int64_t chunk_ = 0;
  int begin_ = 0, end_ = 0;  // keys of the chunk that any row sees
  bool uniform_ = true;      // all rows see the same
  bool has_next_ = false;    // there is a next chunk, and its tiles are known
  TileList k_tiles_{}, v_tiles_{}, k_next_{}, v_next_{}, of_head_{}, ahead_of_head_{};
  std::array<RowKeys, kRowsMax> keys_;
};

// The kept states of a cut tile's chunk.
template <typename T>
StateRows<T> Kept(const TileContext<T>& context, const Tile& tile, int64_t chunk_index) {
  return context.kept.from(tile.state_first + chunk_index * tile.all_rows());
}

}  // namespace

template <typename T>
Scratch<T>::Scratch(int64_t rows, int64_t head_dim_k, int64_t head_dim_v)
    : started_(std::make_unique<bool[]>(static_cast<size_t>(rows))) {
  const auto round = [](int64_t count) { return (count + kLanes - 1) / kLanes * kLanes; };
  const int64_t sizes[] = {round(rows * head_dim_k),
                           rows * kChunkKeys,
                           kChunkKeys * head_dim_k,
                           round(rows),
                           round(rows),
                           round(rows * head_dim_v),
                           round(rows),
                           round(rows),
                           round(rows * head_dim_v)};
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
  const Tile& tile = context.plan->tiles()[task.tile];
  const bool kept = tile.parts > 1;
  StateRows<T> states = scratch.chunk;
  states.out_stride = context.options->shape.head_dim_v;
  TileJob<T> job(context, tile, scratch);
  job.LoadQueries();
  if (!kept) job.Start();
  for (int64_t i = task.chunk_begin; i < task.chunk_end; ++i) {
    const int64_t next = i + 1 < task.chunk_end ? tile.chunks.at(i + 1) : -1;
    job.Chunk(tile.chunks.at(i), next, kept ? Kept(context, tile, i) : states);
    if (!kept) job.MergeRows(states);
  }
  if (!kept) job.Finish();
}

template <typename T>
void MergeTile(const TileContext<T>& context, const Tile& tile, Scratch<T>& scratch) noexcept {
  TileJob<T> job(context, tile, scratch);
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
