// The shape of a key/value cache and the one arithmetic of its bytes: allocator, planner, reports and documents call
// it.
//
// Every function here is pure and throws Error with nothing changed. Sizes are checked products: what does not fit 63
// bits is Error(kCapacity), never a wrapped number. An empty batch, length or pool (0) is a legal shape of 0 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ekvi/dtype.h"

namespace ekvi {

// One layer's rows: k[kv_heads, head_dim_k] and v[kv_heads, head_dim_v] per token.
struct LayerShape {
  int kv_heads = 1;
  int head_dim_k = 1;
  int head_dim_v = 1;
  bool operator==(const LayerShape&) const = default;
};

// Layers may differ in everything but the element types. Cache types are kF64, kF32, kF16, kBF16.
struct CacheLayout {
  std::vector<LayerShape> layers;
  DType dtype_k = DType::kF32;
  DType dtype_v = DType::kF32;

  // `layer_count` below 1 gives a layout without layers, which CheckLayout refuses.
  static CacheLayout Uniform(int layer_count, LayerShape shape, DType dtype);
  bool operator==(const CacheLayout&) const = default;
};

// Limits that keep bookkeeping bounded whatever a caller asks for: under 128 bytes a row, 8 bytes a block (numbered by
// int32), 4 bytes for each block that a row may hold.
inline constexpr int kMaxCacheRows = 1 << 20;
inline constexpr int64_t kMaxCacheBlocks = INT32_MAX;

// A contiguous cache reserves max_len tokens for each of its rows.
struct ContiguousShape {
  int rows = 1;         // 0 … kMaxCacheRows
  int64_t max_len = 0;  // tokens
};

// A paged cache holds block_count blocks of block_tokens tokens; a row takes blocks as it grows, up to max_len tokens.
struct PagedShape {
  int rows = 1;             // 0 … kMaxCacheRows
  int64_t max_len = 0;      // tokens a row may hold
  int block_tokens = 32;    // a multiple of 16, 16 … 256
  int64_t block_count = 0;  // 0 … kMaxCacheBlocks
};

// Throws Error(kInvalidArgument) that names the field, its value and its limits: no layers, a count below 1, a type
// that caches do not have; for a shape: a negative count, rows or blocks past their limit, a block size that is no
// multiple of 16. All sizes below call the checks that concern them first.
void CheckLayout(const CacheLayout& layout);
void CheckShape(const ContiguousShape& shape);
void CheckShape(const PagedShape& shape);

// Bytes one token adds: the sum over layers of kv_heads × (head_dim_k × size_k + head_dim_v × size_v).
size_t BytesPerToken(const CacheLayout& layout);
// Bytes of the arena that the cache allocates, exactly. Contiguous: rows × max_len × BytesPerToken, where each layer's
// K and each layer's V is rounded up to 64 bytes (which adds nothing at usual head sizes).
size_t ContiguousBytes(const CacheLayout& layout, const ContiguousShape& shape);
// Paged: block_count × BlockBytes.
size_t PagedBytes(const CacheLayout& layout, const PagedShape& shape);
// Bytes of one block: all layers and heads of block_tokens tokens, each (layer, head) part rounded up to 64.
size_t BlockBytes(const CacheLayout& layout, int block_tokens);
// Blocks that hold `tokens` tokens. kInvalidArgument for a negative count or a block size of 0 or less.
int64_t BlocksFor(int64_t tokens, int block_tokens);

}  // namespace ekvi
