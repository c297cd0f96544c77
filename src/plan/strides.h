// The sizes of the parts that caches are built of. Addresses (src/cache) and totals (cache_layout.cc) are sums of these
// and of nothing else, so that allocator, kernels and planner cannot disagree.
//
// A layer that stores fewer tokens than its row has (a window) and a format with more than values (scales) enter here:
// HeadBytes is the only function that turns tokens into bytes. All throw Error(kCapacity) past 63 bits.
#pragma once

#include <cstddef>

#include "ekvi/cache_layout.h"

namespace ekvi::plan {

// Room is counted in whole cache lines.
inline constexpr size_t kPartAlignment = 64;

// Keys and values of something, apart.
struct KvBytes {
  size_t k = 0;
  size_t v = 0;
};

// `tokens` tokens of one KV head of a layer, unpadded.
KvBytes HeadBytes(const CacheLayout& layout, const LayerShape& layer, size_t tokens);

// Room for one head of one layer in a block: its keys and its values, together rounded up to kPartAlignment.
size_t BlockPartBytes(const CacheLayout& layout, const LayerShape& layer, int block_tokens);

// One layer of a contiguous cache: k[row, kv_heads, max_len, head_dim_k] and v, each rounded up to kPartAlignment.
KvBytes ContiguousLayerBytes(const CacheLayout& layout, const LayerShape& layer, const ContiguousShape& shape);

}  // namespace ekvi::plan
