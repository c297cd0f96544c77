// Rows at fixed places: reserving and giving back need nothing, truncation is a smaller length, and sharing copies
// bytes.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/check.h"
#include "cache/cache_memory.h"
#include "cache/contiguous_geometry.h"
#include "cache/row_moves.h"
#include "cache/tile.h"
#include "ekvi/cache.h"

namespace ekvi {
namespace {

CacheLayout Checked(CacheLayout layout, const ContiguousShape& shape) {
  CheckLayout(layout);
  CheckShape(shape);
  return layout;
}

}  // namespace

struct ContiguousCache::Impl {
  Impl(const CacheLayout& layout, const ContiguousShape& shape)
      : geometry(layout, shape), arena(static_cast<size_t>(geometry.bytes()), cache::kCacheTerms), moves(shape.rows) {}

  // Calls move(a, b, bytes) for every run of row `from`'s first `tokens` tokens and the same run of row `to`.
  template <typename Move>
  void EachRun(const CacheLayout& layout, int from, int to, int64_t tokens, const Move& move) {
    if (tokens == 0) return;  // an arena of no tokens has no address
    for (int layer = 0; layer < static_cast<int>(layout.layers.size()); ++layer) {
      const cache::TileOffset token = geometry.TokenStride(layer);
      for (int head = 0; head < layout.layers[static_cast<size_t>(layer)].kv_heads; ++head) {
        const cache::TileOffset a = geometry.Offset(layer, from, head, 0);
        const cache::TileOffset b = geometry.Offset(layer, to, head, 0);
        move(arena.data() + a.k, arena.data() + b.k, static_cast<size_t>(tokens * token.k));
        move(arena.data() + a.v, arena.data() + b.v, static_cast<size_t>(tokens * token.v));
      }
    }
  }

  void Copy(const CacheLayout& layout, int from, int to, int64_t tokens) {
    EachRun(layout, from, to, tokens, [](const std::byte* a, std::byte* b, size_t bytes) { std::memcpy(b, a, bytes); });
  }
  void Swap(const CacheLayout& layout, int from, int to, int64_t tokens) {
    EachRun(layout, from, to, tokens,
            [](std::byte* a, std::byte* b, size_t bytes) { std::swap_ranges(a, a + bytes, b); });
  }

  cache::ContiguousGeometry geometry;
  base::AlignedBuffer arena;
  cache::RowMoves moves;
};

ContiguousCache::ContiguousCache(CacheLayout layout, const ContiguousShape& shape)
    : KvCache(Checked(std::move(layout), shape), shape.rows, shape.max_len),
      impl_(std::make_unique<Impl>(this->layout(), shape)) {}

ContiguousCache::~ContiguousCache() = default;

size_t ContiguousCache::bytes() const { return impl_->arena.size(); }

KvCache::Held ContiguousCache::held(int row) const {
  return {.bytes = static_cast<uint64_t>(length(row)) * bytes_per_token()};
}

ContiguousCache::View ContiguousCache::k(int layer) const {
  CheckLayer(layer);
  const LayerShape& shape = layout().layers[static_cast<size_t>(layer)];
  const int64_t head_stride = max_len() * shape.head_dim_k;
  return {.data = impl_->arena.data() + impl_->geometry.LayerOffset(layer).k,
          .dtype = layout().dtype_k,
          .row_stride = shape.kv_heads * head_stride,
          .head_stride = head_stride,
          .pos_stride = shape.head_dim_k};
}

ContiguousCache::View ContiguousCache::v(int layer) const {
  CheckLayer(layer);
  const LayerShape& shape = layout().layers[static_cast<size_t>(layer)];
  const int64_t head_stride = max_len() * shape.head_dim_v;
  return {.data = impl_->arena.data() + impl_->geometry.LayerOffset(layer).v,
          .dtype = layout().dtype_v,
          .row_stride = shape.kv_heads * head_stride,
          .head_stride = head_stride,
          .pos_stride = shape.head_dim_v};
}

TileGeometry ContiguousCache::Geometry(int layer) const {
  const cache::TileOffset head = impl_->geometry.HeadStride(layer);
  return {.key_order = KeyOrder::kTokenMajor,
          .k_head_bytes = head.k,
          .v_head_bytes = head.v,
          .run_tiles = std::max<int64_t>(1, BlocksFor(max_len(), cache::kTileTokens))};
}

KvCache::TilePlace ContiguousCache::Place(int layer, int row, int64_t tile) {
  const cache::TileOffset offset = impl_->geometry.Offset(layer, row, 0, tile * cache::kTileTokens);
  return {.k = impl_->arena.data() + offset.k, .v = impl_->arena.data() + offset.v};
}

void ContiguousCache::Tiles(int layer, int row, int64_t first_tile, std::span<const std::byte*> k,
                            std::span<const std::byte*> v) const {
  EKVI_CHECK(0 <= layer && layer < static_cast<int>(layout().layers.size()));
  EKVI_CHECK(0 <= row && row < rows());
  EKVI_CHECK_OP(==, k.size(), v.size());
  const int64_t tiles = max_len() / cache::kTileTokens + (max_len() % cache::kTileTokens != 0 ? 1 : 0);
  EKVI_CHECK(0 <= first_tile && first_tile <= tiles && static_cast<int64_t>(k.size()) <= tiles - first_tile);
  for (size_t i = 0; i < k.size(); ++i) {
    const int64_t pos = (first_tile + static_cast<int64_t>(i)) * cache::kTileTokens;
    const cache::TileOffset offset = impl_->geometry.Offset(layer, row, 0, pos);
    k[i] = impl_->arena.data() + offset.k;
    v[i] = impl_->arena.data() + offset.v;
  }
}

void ContiguousCache::Reserve(std::span<const int64_t>) {}
void ContiguousCache::GiveBack() noexcept {}
void ContiguousCache::DropTail(int, int64_t) {}

void ContiguousCache::Share(int from, int to) {
  const int64_t tokens = length(from);
  impl_->Copy(layout(), from, to, tokens);
  bytes_copied_ += static_cast<uint64_t>(tokens) * bytes_per_token();
}

// A swap moves as many tokens as the longest row has: what lies behind a row's length travels along and means nothing.
void ContiguousCache::Rearrange(std::span<const int> source) {
  const int64_t longest = lengths_.empty() ? 0 : *std::ranges::max_element(lengths_);
  for (const cache::RowMove& move : impl_->moves.Plan(source)) {
    if (move.kind == cache::RowMove::Kind::kCopy) {
      impl_->Copy(layout(), move.from, move.to, length(source[static_cast<size_t>(move.to)]));
    } else {
      impl_->Swap(layout(), move.from, move.to, longest);
    }
  }
  for (size_t row = 0; row < source.size(); ++row) {
    if (source[row] == static_cast<int>(row)) continue;
    bytes_copied_ += static_cast<uint64_t>(length(source[row])) * bytes_per_token();
  }
}

}  // namespace ekvi
