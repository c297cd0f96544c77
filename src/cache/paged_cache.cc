// Blocks under tables: BlockReservation decides about blocks, BlockGeometry about bytes, and here both meet.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fault.h"
#include "cache/block_geometry.h"
#include "cache/block_pool.h"
#include "cache/block_reservation.h"
#include "cache/block_table.h"
#include "cache/cache_memory.h"
#include "cache/row_moves.h"
#include "cache/tile.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"

namespace ekvi {
namespace {

constexpr int64_t kNoIndex = -1;

CacheLayout Checked(CacheLayout layout, const PagedShape& shape) {
  CheckLayout(layout);
  CheckShape(shape);
  return layout;
}

size_t TableCapacity(const PagedShape& shape) {
  return static_cast<size_t>(std::min(BlocksFor(shape.max_len, shape.block_tokens), shape.block_count));
}

size_t TableBytes(const PagedShape& shape) {
  return static_cast<size_t>(shape.rows) * TableCapacity(shape) * sizeof(int32_t);  // below 2^20 × 2^31 × 2^2
}

}  // namespace

struct PagedCache::Impl {
  Impl(const CacheLayout& layout, const PagedShape& shape);

  cache::RowGrowth Growth(std::span<const int64_t> lengths, std::span<const int64_t> counts) {
    return {.tables = tables, .lengths = lengths, .counts = counts, .block_tokens = geometry.block_tokens()};
  }
  int64_t Blocks(int64_t tokens) const { return BlocksFor(tokens, geometry.block_tokens()); }
  uint64_t CopyTokens(const CacheLayout& layout, const cache::BlockCopy& copy);
  void CheckWritable(int row, int64_t past, int64_t total) const;
  cache::TileOffset SwappedHeads(int32_t block, int layer, int kv_heads) const;

  cache::BlockGeometry geometry;
  base::AlignedBuffer arena;
  base::AlignedBuffer table_storage;  // int32 [rows, capacity of a table]
  cache::BlockPool pool;
  std::vector<cache::BlockTable> tables;
  cache::BlockReservation reservation;
  cache::RowMoves moves;
};

PagedCache::Impl::Impl(const CacheLayout& layout, const PagedShape& shape)
    : geometry(layout, shape),
      arena(PagedBytes(layout, shape), cache::kCacheTerms),
      table_storage(TableBytes(shape), cache::kCacheTerms),
      pool(shape.block_count),
      reservation(shape.rows),
      moves(shape.rows) {
  const size_t capacity = TableCapacity(shape);
  const auto rows = static_cast<size_t>(shape.rows);
  const std::span<int32_t> storage(table_storage.as<int32_t>(), rows * capacity);
  tables.reserve(rows);
  for (size_t row = 0; row < rows; ++row) tables.emplace_back(&pool, storage.subspan(row * capacity, capacity));
}

// Copies whole tiles of keys and the tokens' values; the bytes moved.
uint64_t PagedCache::Impl::CopyTokens(const CacheLayout& layout, const cache::BlockCopy& copy) {
  int64_t moved = 0;
  for (int layer = 0; layer < static_cast<int>(layout.layers.size()); ++layer) {
    const int64_t k_bytes = geometry.key_bytes(layer, copy.tokens);
    const int64_t v_bytes = geometry.value_bytes(layer, copy.tokens);
    for (int head = 0; head < layout.layers[static_cast<size_t>(layer)].kv_heads; ++head) {
      const cache::TileOffset from = geometry.Offset(copy.order.from, layer, head, 0);
      const cache::TileOffset to = geometry.Offset(copy.order.to, layer, head, 0);
      std::memcpy(arena.data() + to.k, arena.data() + from.k, static_cast<size_t>(k_bytes));
      std::memcpy(arena.data() + to.v, arena.data() + from.v, static_cast<size_t>(v_bytes));
      moved += k_bytes + v_bytes;
    }
  }
  return static_cast<uint64_t>(moved);
}

// Fault kSwappedHeads: the way from a head to its neighbour, so that head h reads h + 1 and the last one what lies
// behind it; towards the front where that would leave the arena (there are blocks before: the fault spares a row's
// first block).
cache::TileOffset PagedCache::Impl::SwappedHeads(int32_t block, int layer, int kv_heads) const {
  const cache::TileOffset head = geometry.HeadStride(layer);
  const int64_t end = geometry.Offset(block, layer, kv_heads, 0).v;
  const int64_t sign = end + head.v <= static_cast<int64_t>(arena.size()) ? 1 : -1;
  return {sign * head.k, sign * head.v};
}

// Every block that tokens past … total - 1 are written to has one owner.
void PagedCache::Impl::CheckWritable(int row, int64_t past, int64_t total) const {
  if (past == total) return;
  for (int64_t i = past / geometry.block_tokens(); i < Blocks(total); ++i) {
    EKVI_CHECK_OP(==, pool.owners(tables[static_cast<size_t>(row)][i]), 1);
  }
}

PagedCache::PagedCache(CacheLayout layout, const PagedShape& shape)
    : KvCache(Checked(std::move(layout), shape), shape.rows, shape.max_len),
      impl_(std::make_unique<Impl>(this->layout(), shape)) {}

PagedCache::~PagedCache() = default;

int PagedCache::block_tokens() const { return impl_->geometry.block_tokens(); }
int64_t PagedCache::free_blocks() const { return impl_->pool.free_count(); }
std::vector<int32_t> PagedCache::FreeBlocks() const { return impl_->pool.FreeBlocks(); }
size_t PagedCache::bytes() const { return impl_->arena.size(); }

KvCache::Held PagedCache::held(int row) const {
  const auto held_blocks = static_cast<int64_t>(blocks(row).size());
  return {.bytes = static_cast<uint64_t>(held_blocks) * BlockBytes(layout(), block_tokens()), .blocks = held_blocks};
}

std::span<const int32_t> PagedCache::blocks(int row) const {
  CheckRow(row);
  return impl_->tables[static_cast<size_t>(row)].blocks();
}

int PagedCache::block_owners(int32_t block) const {
  if (block < 0 || block >= impl_->pool.block_count()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("block {} does not exist", block),
                fmt::format("the cache has {}", impl_->pool.block_count()), "a number below that, from 0 on");
  }
  return impl_->pool.owners(block);
}

void PagedCache::ShuffleFreeBlocks(uint64_t seed) {
  EKVI_CHECK(!append_open());
  impl_->pool.ShuffleFree(seed);
}

TileGeometry PagedCache::Geometry(int layer) const {
  const cache::TileOffset head = impl_->geometry.HeadStride(layer);
  return {.key_order = KeyOrder::kInterleaved,
          .k_head_bytes = head.k,
          .v_head_bytes = head.v,
          .run_tiles = impl_->geometry.tiles_per_block()};
}

KvCache::TilePlace PagedCache::Place(int layer, int row, int64_t tile) {
  const int tiles = impl_->geometry.tiles_per_block();
  const int32_t block = impl_->tables[static_cast<size_t>(row)][tile / tiles];
  const cache::TileOffset offset = impl_->geometry.Offset(block, layer, 0, static_cast<int>(tile % tiles));
  return {.k = impl_->arena.data() + offset.k, .v = impl_->arena.data() + offset.v};
}

void PagedCache::Tiles(int layer, int row, int64_t first_tile, std::span<const std::byte*> k,
                       std::span<const std::byte*> v) const {
  EKVI_CHECK(0 <= layer && layer < static_cast<int>(layout().layers.size()));
  EKVI_CHECK(0 <= row && row < rows());
  EKVI_CHECK_OP(==, k.size(), v.size());
  const cache::BlockTable& table = impl_->tables[static_cast<size_t>(row)];
  const int tiles = impl_->geometry.tiles_per_block();
  EKVI_CHECK(0 <= first_tile && first_tile <= table.size() * tiles);
  EKVI_CHECK_OP(<=, static_cast<int64_t>(k.size()), table.size() * tiles - first_tile);

  const int64_t stale_index = base::Injected(base::Fault::kStaleBlock) ? StaleBlock(row) : kNoIndex;
  const bool swapped = base::Injected(base::Fault::kSwappedHeads);
  const int kv_heads = layout().layers[static_cast<size_t>(layer)].kv_heads;
  int64_t index = first_tile / tiles;
  int tile = static_cast<int>(first_tile % tiles);
  for (size_t i = 0; i < k.size(); ++i) {
    const int32_t block = table[index == stale_index ? 0 : index];
    const cache::TileOffset offset = impl_->geometry.Offset(block, layer, 0, tile);
    const cache::TileOffset shift =
        swapped && index > 0 ? impl_->SwappedHeads(block, layer, kv_heads) : cache::TileOffset{};
    k[i] = impl_->arena.data() + offset.k + shift.k;
    v[i] = impl_->arena.data() + offset.v + shift.v;
    if (++tile < tiles) continue;
    tile = 0;
    ++index;
  }
}

int64_t PagedCache::StaleBlock(int row) const {
  const int64_t full_blocks = (length(row) + pending(row)) / block_tokens();
  return full_blocks >= 2 ? full_blocks - 1 : kNoIndex;
}

void PagedCache::Reserve(std::span<const int64_t> counts) {
  const cache::RowGrowth growth = impl_->Growth(lengths_, counts);
  if (const auto shortage = impl_->reservation.Plan(impl_->pool, growth)) {
    const auto row = static_cast<size_t>(shortage->row);
    throw Error(ErrorCode::kCapacity,
                fmt::format("no free block for row {}: {} needed, {} free", row, shortage->needed, free_blocks()),
                fmt::format("length {} + count {}, {} blocks of {} tokens in all", lengths_[row], counts[row],
                            impl_->pool.block_count(), block_tokens()),
                "fewer tokens, truncating or resetting a row, or a cache with more blocks");
  }
  for (const cache::BlockCopy& copy : impl_->reservation.Take(growth))
    bytes_copied_ += impl_->CopyTokens(layout(), copy);
}

void PagedCache::GiveBack() noexcept { impl_->reservation.GiveBack(impl_->tables); }

void PagedCache::DropTail(int row, int64_t length) {
  impl_->tables[static_cast<size_t>(row)].Shrink(impl_->Blocks(length));
}

void PagedCache::Share(int from, int to) {
  impl_->tables[static_cast<size_t>(to)].Fork(impl_->tables[static_cast<size_t>(from)]);
}

void PagedCache::Rearrange(std::span<const int> source) {
  for (const cache::RowMove& move : impl_->moves.Plan(source)) {
    cache::BlockTable& from = impl_->tables[static_cast<size_t>(move.from)];
    cache::BlockTable& to = impl_->tables[static_cast<size_t>(move.to)];
    if (move.kind == cache::RowMove::Kind::kCopy) {
      to.Fork(from);
    } else {
      std::swap(from, to);
    }
  }
}

// The numbers are those of docs/cache.md.
void PagedCache::CheckInvariants() const {
  const cache::BlockPool& pool = impl_->pool;
  std::vector<int32_t> named(static_cast<size_t>(pool.block_count()), 0);
  std::vector<int64_t> index_of(named.size(), kNoIndex);
  int64_t held = 0;
  for (int row = 0; row < rows(); ++row) {
    const int64_t total = length(row) + pending(row);
    EKVI_CHECK(0 <= length(row) && total <= max_len());                                 // 4
    EKVI_CHECK_OP(==, static_cast<int64_t>(blocks(row).size()), impl_->Blocks(total));  // 5
    for (size_t i = 0; i < blocks(row).size(); ++i) {
      const auto block = static_cast<size_t>(blocks(row)[i]);
      if (named[block]++ == 0) ++held;
      EKVI_CHECK(index_of[block] == kNoIndex || index_of[block] == static_cast<int64_t>(i));  // 3
      index_of[block] = static_cast<int64_t>(i);
    }
  }
  for (size_t block = 0; block < named.size(); ++block) {
    EKVI_CHECK_OP(==, named[block], pool.owners(static_cast<int32_t>(block)));  // 1
  }
  for (const int32_t block : pool.FreeBlocks()) EKVI_CHECK(named[static_cast<size_t>(block)]-- == 0);  // 2, each once
  EKVI_CHECK_OP(==, held + pool.free_count(), pool.block_count());                                     // 2
  if (base::Injected(base::Fault::kSharedWrite)) return;
  for (int row = 0; row < rows(); ++row) impl_->CheckWritable(row, length(row), length(row) + pending(row));  // 6
}

}  // namespace ekvi
