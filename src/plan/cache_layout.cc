// Bytes of caches. HeadBytes turns tokens into bytes; everything else multiplies, adds and rounds it with checked
// arithmetic. 63 bits are the limit, so that every offset also fits int64_t.
#include "ekvi/cache_layout.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/checked.h"
#include "ekvi/error.h"
#include "plan/strides.h"

namespace ekvi {
namespace {

[[noreturn]] void RefuseSize() {
  throw Error(ErrorCode::kCapacity, "a key/value cache of this shape has more bytes than 63 bits count", "",
              "check layers, heads, head sizes, rows and lengths: one of them is far too large");
}

size_t Fitting(std::optional<size_t> bytes) {
  if (!bytes || *bytes > static_cast<size_t>(INT64_MAX)) RefuseSize();
  return *bytes;
}

size_t Product(size_t a, size_t b) { return Fitting(base::CheckedMul(a, b)); }
size_t Sum(size_t a, size_t b) { return Fitting(base::CheckedAdd(a, b)); }
size_t PaddedPart(size_t bytes) { return Fitting(base::CheckedRoundUp(bytes, plan::kPartAlignment)); }

bool IsCacheType(DType type) {
  return type == DType::kF64 || type == DType::kF32 || type == DType::kF16 || type == DType::kBF16;
}

void CheckType(std::string_view field, DType type) {
  if (IsCacheType(type)) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is no type of a key/value cache", field),
              fmt::format("type number {}", static_cast<int>(type)), "f64, f32, f16 or bf16");
}

struct Limits {
  int64_t least, most;
};

void CheckField(std::string_view field, int64_t value, Limits limits) {
  if (limits.least <= value && value <= limits.most) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} = {} is out of range", field, value),
              limits.most == INT64_MAX ? fmt::format("at least {}", limits.least)
                                       : fmt::format("{} to {}", limits.least, limits.most),
              "a value in that range");
}

constexpr Limits kCount{1, INT32_MAX};
constexpr Limits kLength{0, INT64_MAX};
constexpr Limits kRows{0, kMaxCacheRows};
constexpr Limits kBlocks{0, kMaxCacheBlocks};
constexpr Limits kBlockTokens{16, 256};

void CheckLayer(size_t index, const LayerShape& layer) {
  const auto check = [index](std::string_view field, int value) {
    if (value < 1) CheckField(fmt::format("{} of layer {}", field, index), value, kCount);
  };
  check("kv_heads", layer.kv_heads);
  check("head_dim_k", layer.head_dim_k);
  check("head_dim_v", layer.head_dim_v);
}

void CheckBlockTokens(int block_tokens) {
  CheckField("block_tokens", block_tokens, kBlockTokens);
  if (block_tokens % 16 == 0) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("block_tokens = {} is no multiple of 16", block_tokens), "",
              fmt::format("{} or {}", block_tokens / 16 * 16, block_tokens / 16 * 16 + 16));
}

}  // namespace

namespace plan {

KvBytes HeadBytes(const CacheLayout& layout, const LayerShape& layer, size_t tokens) {
  const size_t k_row = DTypeBytes(layout.dtype_k, static_cast<size_t>(layer.head_dim_k));
  const size_t v_row = DTypeBytes(layout.dtype_v, static_cast<size_t>(layer.head_dim_v));
  return {.k = Product(tokens, k_row), .v = Product(tokens, v_row)};
}

size_t BlockPartBytes(const CacheLayout& layout, const LayerShape& layer, int block_tokens) {
  const KvBytes head = HeadBytes(layout, layer, static_cast<size_t>(block_tokens));
  return PaddedPart(Sum(head.k, head.v));
}

KvBytes ContiguousLayerBytes(const CacheLayout& layout, const LayerShape& layer, const ContiguousShape& shape) {
  const size_t heads = Product(static_cast<size_t>(shape.rows), static_cast<size_t>(layer.kv_heads));
  const KvBytes head = HeadBytes(layout, layer, static_cast<size_t>(shape.max_len));
  return {.k = PaddedPart(Product(heads, head.k)), .v = PaddedPart(Product(heads, head.v))};
}

}  // namespace plan

CacheLayout CacheLayout::Uniform(int layer_count, LayerShape shape, DType dtype) {
  const size_t count = layer_count > 0 ? static_cast<size_t>(layer_count) : 0;
  return {.layers = std::vector<LayerShape>(count, shape), .dtype_k = dtype, .dtype_v = dtype};
}

void CheckLayout(const CacheLayout& layout) {
  if (layout.layers.empty())
    throw Error(ErrorCode::kInvalidArgument, "a key/value cache needs at least one layer", "none", "one layer or more");
  for (size_t i = 0; i < layout.layers.size(); ++i) CheckLayer(i, layout.layers[i]);
  CheckType("dtype_k", layout.dtype_k);
  CheckType("dtype_v", layout.dtype_v);
}

void CheckShape(const ContiguousShape& shape) {
  CheckField("rows", shape.rows, kRows);
  CheckField("max_len", shape.max_len, kLength);
}

void CheckShape(const PagedShape& shape) {
  CheckField("rows", shape.rows, kRows);
  CheckField("max_len", shape.max_len, kLength);
  CheckBlockTokens(shape.block_tokens);
  CheckField("block_count", shape.block_count, kBlocks);
}

size_t BytesPerToken(const CacheLayout& layout) {
  CheckLayout(layout);
  size_t total = 0;
  for (const LayerShape& layer : layout.layers) {
    const plan::KvBytes head = plan::HeadBytes(layout, layer, 1);
    total = Sum(total, Product(static_cast<size_t>(layer.kv_heads), Sum(head.k, head.v)));
  }
  return total;
}

size_t ContiguousBytes(const CacheLayout& layout, const ContiguousShape& shape) {
  CheckLayout(layout);
  CheckShape(shape);
  size_t total = 0;
  for (const LayerShape& layer : layout.layers) {
    const plan::KvBytes bytes = plan::ContiguousLayerBytes(layout, layer, shape);
    total = Sum(total, Sum(bytes.k, bytes.v));
  }
  return total;
}

size_t BlockBytes(const CacheLayout& layout, int block_tokens) {
  CheckLayout(layout);
  CheckBlockTokens(block_tokens);
  size_t total = 0;
  for (const LayerShape& layer : layout.layers) {
    const size_t part = plan::BlockPartBytes(layout, layer, block_tokens);
    total = Sum(total, Product(static_cast<size_t>(layer.kv_heads), part));
  }
  return total;
}

size_t PagedBytes(const CacheLayout& layout, const PagedShape& shape) {
  CheckShape(shape);
  return Product(static_cast<size_t>(shape.block_count), BlockBytes(layout, shape.block_tokens));
}

int64_t BlocksFor(int64_t tokens, int block_tokens) {
  CheckField("tokens", tokens, kLength);
  CheckField("block_tokens", block_tokens, kCount);
  return tokens / block_tokens + (tokens % block_tokens != 0 ? 1 : 0);
}

}  // namespace ekvi
