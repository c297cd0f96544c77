// A tile: 16 tokens of one row, layer and KV head, the unit in which caches are written, read and handed to kernels.
#pragma once

#include <cstdint>

namespace ekvi::cache {

// 16 lanes are one vector of the law on every machine; block sizes are multiples of it.
inline constexpr int kTileTokens = 16;

// Bytes from the start of an arena to a tile's keys and values. 64 bits: arenas are larger than 4 GiB.
struct TileOffset {
  int64_t k = 0;
  int64_t v = 0;
};

}  // namespace ekvi::cache
