#include "cache/block_geometry.h"

#include <string>

#include "base/check.h"
#include "plan/strides.h"

namespace ekvi::cache {

BlockGeometry::BlockGeometry(const CacheLayout& layout, int block_tokens)
    : tiles_per_block_(block_tokens / kTileTokens),
      block_bytes_(static_cast<int64_t>(BlockBytes(layout, block_tokens))) {
  layers_.reserve(layout.layers.size());
  int64_t offset = 0;
  for (const LayerShape& shape : layout.layers) {
    const plan::KvBytes block = plan::HeadBytes(layout, shape, static_cast<size_t>(block_tokens));
    const plan::KvBytes tile = plan::HeadBytes(layout, shape, kTileTokens);
    const Layer layer{.offset = offset,
                      .head_bytes = static_cast<int64_t>(plan::BlockPartBytes(layout, shape, block_tokens)),
                      .v_offset = static_cast<int64_t>(block.k),
                      .k_tile_bytes = static_cast<int64_t>(tile.k),
                      .v_token_bytes = static_cast<int64_t>(tile.v) / kTileTokens};
    layers_.push_back(layer);
    offset += shape.kv_heads * layer.head_bytes;
  }
  EKVI_CHECK_OP(==, offset, block_bytes_);
}

int64_t BlockGeometry::key_bytes(int layer, int64_t tokens) const {
  return (tokens + kTileTokens - 1) / kTileTokens * At(layer).k_tile_bytes;
}

TileOffset BlockGeometry::Offset(int64_t block, int layer, int head, int tile) const {
  const Layer& l = At(layer);
  const int64_t part = block * block_bytes_ + l.offset + head * l.head_bytes;
  return {.k = part + tile * l.k_tile_bytes, .v = part + l.v_offset + tile * kTileTokens * l.v_token_bytes};
}

}  // namespace ekvi::cache
