// Lengths, arguments and the append transaction; where tokens lie is the derived classes' business (Place, Tiles).
//
// An append has three moments. BeginAppend checks every row and lets the storage reserve; nothing that can be read has
// changed. Write fills slots behind the committed lengths, tile by tile. EndAppend after Commit adds the counts to the
// lengths; without Commit the storage takes its reservation back.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/fault.h"
#include "base/fpenv.h"
#include "cache/row_codec.h"
#include "cache/tile.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"
#include "plan/strides.h"

namespace ekvi {
namespace {

void CheckIndex(const char* what, int64_t value, int64_t count) {
  if (0 <= value && value < count) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} {} does not exist", what, value),
              fmt::format("the cache has {}", count), "a number below that, from 0 on");
}

void CheckSize(const char* what, size_t size, size_t expected) {
  if (size == expected) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} has {} values", what, size),
              fmt::format("the cache has {}", expected), "one value for each");
}

void CheckRoom(int row, int64_t length, int64_t count, int64_t max_len) {
  if (count < 0) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("row {} cannot take {} tokens", row, count),
                fmt::format("length {}, limit {}", length, max_len), "a count of 0 or more");
  }
  if (count <= max_len - length) return;
  throw Error(ErrorCode::kCapacity, fmt::format("row {} has no room for {} more tokens", row, count),
              fmt::format("length {} + count {} > limit {}", length, count, max_len),
              "fewer tokens, truncating the row, or a cache with a larger max_len");
}

}  // namespace

Append::Append(Append&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)) {}

Append::~Append() {
  if (cache_ == nullptr) return;
  cache_->GiveBack();
  cache_->EndAppend();
}

KvCache& Append::Open() const {
  EKVI_CHECK(cache_ != nullptr);
  return *cache_;
}

const KvCache& Append::cache() const { return Open(); }
int Append::rows() const { return Open().rows(); }
int64_t Append::past(int row) const { return Open().length(row); }

int64_t Append::count(int row) const {
  const KvCache& cache = Open();
  cache.CheckRow(row);
  return cache.pending(row);
}

template <typename T>
void Append::Write(int layer, int row, const Source<T>& source) {
  Open().WriteRows(layer, row, source);
}
template void Append::Write<float>(int, int, const Source<float>&);
template void Append::Write<double>(int, int, const Source<double>&);

void Append::Commit() noexcept {
  KvCache& cache = Open();
  for (size_t row = 0; row < cache.lengths_.size(); ++row) cache.lengths_[row] += cache.pending_[row];
  cache.EndAppend();
  cache_ = nullptr;
}

KvCache::KvCache(CacheLayout layout, int rows, int64_t max_len)
    : lengths_(static_cast<size_t>(rows)),
      layout_(std::move(layout)),
      max_len_(max_len),
      bytes_per_token_(BytesPerToken(layout_)),
      pending_(static_cast<size_t>(rows)) {}

KvCache::~KvCache() = default;

void KvCache::CheckRow(int row) const { CheckIndex("row", row, rows()); }
void KvCache::CheckLayer(int layer) const { CheckIndex("layer", layer, static_cast<int64_t>(layout_.layers.size())); }

int64_t KvCache::length(int row) const {
  CheckRow(row);
  return lengths_[static_cast<size_t>(row)];
}

Append KvCache::BeginAppend(std::span<const int64_t> counts) {
  EKVI_CHECK(!open_);
  CheckSize("the list of counts", counts.size(), lengths_.size());
  for (int row = 0; row < rows(); ++row) CheckRoom(row, length(row), counts[static_cast<size_t>(row)], max_len_);
  Reserve(counts);
  std::ranges::copy(counts, pending_.begin());
  open_ = true;
  return Append(this);
}

void KvCache::EndAppend() noexcept { open_ = false; }

template <typename T>
void KvCache::WriteRows(int layer, int row, const Append::Source<T>& source) {
  EKVI_CHECK(0 <= layer && layer < static_cast<int>(layout_.layers.size()));
  EKVI_CHECK(0 <= row && row < rows());
  const LayerShape& shape = layout_.layers[static_cast<size_t>(layer)];
  const TileGeometry geometry = Geometry(layer);
  const int64_t past = length(row), count = pending(row);
  const bool last_layer = static_cast<size_t>(layer) + 1 == layout_.layers.size();
  const bool lose_keys = base::Injected(base::Fault::kLostCommit) && count == 1 && last_layer;
  const base::ScopedFpEnv rounding;
  for (int64_t t = 0; t < count;) {
    const int slot = static_cast<int>((past + t) % cache::kTileTokens);
    const int slots = static_cast<int>(std::min<int64_t>(cache::kTileTokens - slot, count - t));
    const TilePlace place = Place(layer, row, (past + t) / cache::kTileTokens);
    cache::SlotRange k{place.k, layout_.dtype_k, geometry.key_order, shape.head_dim_k, slot, slots};
    cache::SlotRange v{place.v, layout_.dtype_v, KeyOrder::kTokenMajor, shape.head_dim_v, slot, slots};
    const T* k_rows = source.k + t * source.k_token_stride;
    const T* v_rows = source.v + t * source.v_token_stride;
    for (int head = 0; head < shape.kv_heads; ++head) {
      if (!lose_keys) cache::WriteSlots(k, k_rows + head * source.k_head_stride, source.k_token_stride);
      cache::WriteSlots(v, v_rows + head * source.v_head_stride, source.v_token_stride);
      k.data += geometry.k_head_bytes;
      v.data += geometry.v_head_bytes;
    }
    t += slots;
  }
  const plan::KvBytes token = plan::HeadBytes(layout_, shape, 1);
  const size_t stored = static_cast<size_t>(shape.kv_heads) * (token.k + token.v) * static_cast<size_t>(count);
  bytes_written_.fetch_add(stored, std::memory_order_relaxed);
}

void KvCache::Truncate(int row, int64_t length) {
  EKVI_CHECK(!open_);
  CheckRow(row);
  int64_t& current = lengths_[static_cast<size_t>(row)];
  if (length < 0 || length > current) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("row {} cannot be cut to {} tokens", row, length),
                fmt::format("it has {}", current), "a length from 0 to that");
  }
  const bool too_little = base::Injected(base::Fault::kTruncateTooLittle) && length < current;
  const int64_t kept = length + (too_little ? 1 : 0);
  DropTail(row, kept);
  current = kept;
}

void KvCache::Fork(int from, int to) {
  EKVI_CHECK(!open_);
  CheckRow(from);
  CheckRow(to);
  if (from == to) return;
  Share(from, to);
  lengths_[static_cast<size_t>(to)] = length(from);
}

void KvCache::Permute(std::span<const int> source) {
  EKVI_CHECK(!open_);
  CheckSize("the list of sources", source.size(), lengths_.size());
  for (const int row : source) CheckRow(row);
  Rearrange(source);
  std::ranges::copy(lengths_, pending_.begin());
  for (size_t row = 0; row < source.size(); ++row) lengths_[row] = pending_[static_cast<size_t>(source[row])];
}

void KvCache::Read(int layer, int row, int64_t pos, int head, std::span<double> k, std::span<double> v) const {
  CheckLayer(layer);
  CheckRow(row);
  const LayerShape& shape = layout_.layers[static_cast<size_t>(layer)];
  CheckIndex("token", pos, length(row));
  CheckIndex("KV head", head, shape.kv_heads);
  CheckSize("the room for a key", k.size(), static_cast<size_t>(shape.head_dim_k));
  CheckSize("the room for a value", v.size(), static_cast<size_t>(shape.head_dim_v));
  const base::ScopedFpEnv keep_denormals;
  const std::byte* k_tile = nullptr;
  const std::byte* v_tile = nullptr;
  Tiles(layer, row, pos / cache::kTileTokens, {&k_tile, 1}, {&v_tile, 1});
  const TileGeometry geometry = Geometry(layer);
  const int slot = static_cast<int>(pos % cache::kTileTokens);
  cache::ReadSlot({k_tile + head * geometry.k_head_bytes, layout_.dtype_k, geometry.key_order, shape.head_dim_k, slot},
                  k.data());
  cache::ReadSlot(
      {v_tile + head * geometry.v_head_bytes, layout_.dtype_v, KeyOrder::kTokenMajor, shape.head_dim_v, slot},
      v.data());
}

}  // namespace ekvi
