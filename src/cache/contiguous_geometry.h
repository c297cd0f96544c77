// Where everything lies in a contiguous arena: per layer k[row, kv_heads, max_len, head_dim_k], then v, each rounded up
// to 64 bytes. The one stride function of writing, reading, tiles, views and copies.
#pragma once

#include <cstdint>
#include <vector>

#include "cache/tile.h"
#include "ekvi/cache_layout.h"

namespace ekvi::cache {

class ContiguousGeometry {
 public:
  // Throws what ContiguousBytes throws.
  ContiguousGeometry(const CacheLayout& layout, const ContiguousShape& shape);

  int64_t bytes() const { return bytes_; }
  // Where a layer's keys and its values begin.
  TileOffset LayerOffset(int layer) const { return {At(layer).k_offset, At(layer).v_offset}; }
  // Token `pos` of KV head `head` of a row: where its keys and its values begin.
  TileOffset Offset(int layer, int row, int head, int64_t pos) const;
  // From one KV head to the next.
  TileOffset HeadStride(int layer) const {
    return {max_len_ * At(layer).k_token_bytes, max_len_ * At(layer).v_token_bytes};
  }
  // From one token of a head to the next: its bytes, since tokens lie side by side.
  TileOffset TokenStride(int layer) const { return {At(layer).k_token_bytes, At(layer).v_token_bytes}; }

 private:
  struct Layer {
    int64_t k_offset, v_offset;
    int64_t k_token_bytes, v_token_bytes;
    int64_t kv_heads;
  };
  const Layer& At(int layer) const { return layers_[static_cast<size_t>(layer)]; }

  int64_t max_len_;
  int64_t bytes_;
  std::vector<Layer> layers_;
};

}  // namespace ekvi::cache
