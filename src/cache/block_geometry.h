// Where everything lies in a paged arena: the one stride function of writing, reading, tiles and copies.
//
//   arena[layer] part;  part = K[block][KV head][block_tokens / 16][head_dim_k][16], then
//   V[block][KV head][block_tokens][head_dim_v]; room for each head's K and V of a block is rounded up to 64 bytes,
//   what is over lies at the end of the layer
//
// A decode step reads a layer's keys of all heads, chunk by chunk, and the values: blocks that were taken one after
// another are one run of memory each (docs/decisions/0014). Sizes come from plan/strides.h.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/tile.h"
#include "ekvi/cache_layout.h"

namespace ekvi::cache {

class BlockGeometry {
 public:
  // Throws what PagedBytes throws.
  BlockGeometry(const CacheLayout& layout, const PagedShape& paged);

  int block_tokens() const { return tiles_per_block_ * kTileTokens; }
  int tiles_per_block() const { return tiles_per_block_; }
  int64_t block_bytes() const { return block_bytes_; }
  // From one KV head of a layer to the next.
  TileOffset HeadStride(int layer) const { return {At(layer).k_head_bytes, At(layer).v_head_bytes}; }
  // Bytes of one head's keys of `tokens` tokens, whole tiles, and of its values.
  int64_t key_bytes(int layer, int64_t tokens) const;
  int64_t value_bytes(int layer, int64_t tokens) const { return tokens * At(layer).v_token_bytes; }

  // Tile `tile` (0 … tiles_per_block - 1) of KV head `head`.
  TileOffset Offset(int64_t block, int layer, int head, int tile) const;

 private:
  struct Layer {
    int64_t k_offset, v_offset;  // of block 0
    int64_t k_block_bytes, v_block_bytes;
    int64_t k_head_bytes, v_head_bytes;
    int64_t k_tile_bytes;
    int64_t v_token_bytes;
  };
  const Layer& At(int layer) const { return layers_[static_cast<size_t>(layer)]; }

  int tiles_per_block_;
  int64_t block_bytes_;
  std::vector<Layer> layers_;
};

}  // namespace ekvi::cache
