#include "cache/block_geometry.h"

#include <string>

#include "base/check.h"
#include "plan/strides.h"

namespace ekvi::cache {

BlockGeometry::BlockGeometry(const CacheLayout& layout, const PagedShape& paged)
    : tiles_per_block_(paged.block_tokens / kTileTokens),
      block_bytes_(static_cast<int64_t>(BlockBytes(layout, paged.block_tokens))) {
  const auto bytes = static_cast<int64_t>(PagedBytes(layout, paged));
  layers_.reserve(layout.layers.size());
  int64_t offset = 0;
  for (const LayerShape& shape : layout.layers) {
    const plan::KvBytes block = plan::HeadBytes(layout, shape, static_cast<size_t>(paged.block_tokens));
    const plan::KvBytes tile = plan::HeadBytes(layout, shape, kTileTokens);
    const auto k_head_bytes = static_cast<int64_t>(block.k), v_head_bytes = static_cast<int64_t>(block.v);
    const Layer layer{.k_offset = offset,
                      .v_offset = offset + paged.block_count * shape.kv_heads * k_head_bytes,
                      .k_block_bytes = shape.kv_heads * k_head_bytes,
                      .v_block_bytes = shape.kv_heads * v_head_bytes,
                      .k_head_bytes = k_head_bytes,
                      .v_head_bytes = v_head_bytes,
                      .k_tile_bytes = static_cast<int64_t>(tile.k),
                      .v_token_bytes = static_cast<int64_t>(tile.v) / kTileTokens};
    layers_.push_back(layer);
    offset += paged.block_count * shape.kv_heads *
              static_cast<int64_t>(plan::BlockPartBytes(layout, shape, paged.block_tokens));
  }
  EKVI_CHECK_OP(==, offset, bytes);
}

int64_t BlockGeometry::key_bytes(int layer, int64_t tokens) const {
  return (tokens + kTileTokens - 1) / kTileTokens * At(layer).k_tile_bytes;
}

TileOffset BlockGeometry::Offset(int64_t block, int layer, int head, int tile) const {
  const Layer& l = At(layer);
  return {.k = l.k_offset + block * l.k_block_bytes + head * l.k_head_bytes + tile * l.k_tile_bytes,
          .v = l.v_offset + block * l.v_block_bytes + head * l.v_head_bytes + tile * kTileTokens * l.v_token_bytes};
}

}  // namespace ekvi::cache
