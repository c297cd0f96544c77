// Where everything lies in a paged arena: the one stride function of writing, reading, tiles and copies.
//
//   arena[block] [layer] [KV head] part;  part = K[block_tokens / 16][head_dim_k][16], then
//   V[block_tokens][head_dim_v], rounded up to 64 bytes
//
// All heads of a block and layer are adjacent, so that a decode step reads long runs. Sizes come from plan/strides.h.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/tile.h"
#include "ekvi/cache_layout.h"

namespace ekvi::cache {

class BlockGeometry {
 public:
  // Throws what BlockBytes throws.
  BlockGeometry(const CacheLayout& layout, int block_tokens);

  int block_tokens() const { return tiles_per_block_ * kTileTokens; }
  int tiles_per_block() const { return tiles_per_block_; }
  int64_t block_bytes() const { return block_bytes_; }
  // From one KV head of a layer to the next, for keys and values alike.
  int64_t head_bytes(int layer) const { return At(layer).head_bytes; }
  // Bytes of one head's keys of `tokens` tokens, whole tiles, and of its values.
  int64_t key_bytes(int layer, int64_t tokens) const;
  int64_t value_bytes(int layer, int64_t tokens) const { return tokens * At(layer).v_token_bytes; }

  // Tile `tile` (0 … tiles_per_block - 1) of KV head `head`.
  TileOffset Offset(int64_t block, int layer, int head, int tile) const;

 private:
  struct Layer {
    int64_t offset;      // of head 0's part in a block
    int64_t head_bytes;  // one part
    int64_t v_offset;    // of V in a part
    int64_t k_tile_bytes;
    int64_t v_token_bytes;
  };
  const Layer& At(int layer) const { return layers_[static_cast<size_t>(layer)]; }

  int tiles_per_block_;
  int64_t block_bytes_;
  std::vector<Layer> layers_;
};

}  // namespace ekvi::cache
