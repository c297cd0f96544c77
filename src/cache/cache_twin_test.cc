// Goal: the twin of cache_twin.h says what a cache must hold. Method: it is implemented here from the scalar
// conversions alone, and its own few promises are tested.
#include "cache/cache_twin.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "cache/tile.h"
#include "numeric/convert.h"

namespace ekvi::testing {
namespace {

double StoredValue(DType type, double value) {
  switch (type) {
    case DType::kF64:
      return value;
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kF16:
      return numeric::ToF32(numeric::ToF16(value));
    case DType::kBF16:
      return numeric::ToF32(numeric::ToBF16(value));
    default:
      ADD_FAILURE() << "no cache type";
      return 0;
  }
}

// Where a layer's keys begin in a Token.
size_t LayerBegin(const CacheLayout& layout, int layer) {
  size_t begin = 0;
  for (int i = 0; i < layer; ++i) {
    const LayerShape& shape = layout.layers[static_cast<size_t>(i)];
    begin += static_cast<size_t>(shape.kv_heads * (shape.head_dim_k + shape.head_dim_v));
  }
  return begin;
}

// tokens' values [heads, dim] from `begin` on as array[token][head][dim + 1] with a gap after each token too; gaps are
// NaN.
template <typename T>
std::vector<T> WithGaps(std::span<const Token> tokens, size_t begin, size_t heads, size_t dim) {
  std::vector<T> array(tokens.size() * (heads * (dim + 1) + 3), std::numeric_limits<T>::quiet_NaN());
  for (size_t t = 0; t < tokens.size(); ++t) {
    for (size_t i = 0; i < heads * dim; ++i) {
      array[t * (heads * (dim + 1) + 3) + i / dim * (dim + 1) + i % dim] = static_cast<T>(tokens[t][begin + i]);
    }
  }
  return array;
}

void PoisonTile(std::byte* tile, int64_t first, int64_t step, int64_t count, size_t element) {
  for (int64_t i = 0; i < count; ++i)
    std::memset(tile + (first + i * step) * static_cast<int64_t>(element), 0xFF, element);
}

}  // namespace

size_t TokenValues(const CacheLayout& layout) { return LayerBegin(layout, static_cast<int>(layout.layers.size())); }

std::unique_ptr<KvCache> MakeCache(const CacheLayout& layout, int rows, int64_t max_len, const Storage& storage) {
  if (storage.block_tokens == 0) {
    return std::make_unique<ContiguousCache>(layout, ContiguousShape{.rows = rows, .max_len = max_len});
  }
  return std::make_unique<PagedCache>(
      layout,
      PagedShape{
          .rows = rows, .max_len = max_len, .block_tokens = storage.block_tokens, .block_count = storage.block_count});
}

CacheLayout UnevenLayout(DType dtype_k, DType dtype_v) {
  return {.layers = {{.kv_heads = 2, .head_dim_k = 1, .head_dim_v = 3},
                     {.kv_heads = 1, .head_dim_k = 16, .head_dim_v = 16},
                     {.kv_heads = 1, .head_dim_k = 33, .head_dim_v = 3},
                     {.kv_heads = 3, .head_dim_k = 3, .head_dim_v = 1}},
          .dtype_k = dtype_k,
          .dtype_v = dtype_v};
}

std::vector<Token> DrawTokens(const CacheLayout& layout, int64_t count, base::Random& random) {
  std::vector<Token> tokens(static_cast<size_t>(count), Token(TokenValues(layout)));
  for (Token& token : tokens) {
    for (double& value : token) value = static_cast<float>(random.Unit() * 8 - 4);  // the same as float and as double
  }
  return tokens;
}

Token Stored(const CacheLayout& layout, const Token& token) {
  Token stored = token;
  size_t i = 0;
  for (const LayerShape& shape : layout.layers) {
    for (int n = shape.kv_heads * shape.head_dim_k; n > 0; --n, ++i) stored[i] = StoredValue(layout.dtype_k, token[i]);
    for (int n = shape.kv_heads * shape.head_dim_v; n > 0; --n, ++i) stored[i] = StoredValue(layout.dtype_v, token[i]);
  }
  return stored;
}

template <typename T>
void WriteTokens(ekvi::Append& append, int row, std::span<const Token> tokens) {
  const CacheLayout& layout = append.cache().layout();
  ASSERT_EQ(append.count(row), static_cast<int64_t>(tokens.size()));
  for (int layer = 0; layer < static_cast<int>(layout.layers.size()); ++layer) {
    const LayerShape& shape = layout.layers[static_cast<size_t>(layer)];
    const auto heads = static_cast<size_t>(shape.kv_heads);
    const auto dim_k = static_cast<size_t>(shape.head_dim_k), dim_v = static_cast<size_t>(shape.head_dim_v);
    const size_t begin = LayerBegin(layout, layer);
    const std::vector<T> k = WithGaps<T>(tokens, begin, heads, dim_k);
    const std::vector<T> v = WithGaps<T>(tokens, begin + heads * dim_k, heads, dim_v);
    append.Write<T>(layer, row,
                    {.k = k.data(),
                     .v = v.data(),
                     .k_token_stride = static_cast<int64_t>(heads * (dim_k + 1) + 3),
                     .k_head_stride = static_cast<int64_t>(dim_k + 1),
                     .v_token_stride = static_cast<int64_t>(heads * (dim_v + 1) + 3),
                     .v_head_stride = static_cast<int64_t>(dim_v + 1)});
  }
}
template void WriteTokens<float>(ekvi::Append&, int, std::span<const Token>);
template void WriteTokens<double>(ekvi::Append&, int, std::span<const Token>);

ekvi::Append BeginRow(KvCache& cache, int row, int64_t count) {
  std::vector<int64_t> counts(static_cast<size_t>(cache.rows()), 0);
  counts[static_cast<size_t>(row)] = count;
  return cache.BeginAppend(counts);
}

void AppendTokens(KvCache& cache, int row, std::span<const Token> tokens) {
  ekvi::Append append = BeginRow(cache, row, static_cast<int64_t>(tokens.size()));
  WriteTokens<double>(append, row, tokens);
  append.Commit();
}

Token ReadToken(const KvCache& cache, int row, int64_t pos) {
  const CacheLayout& layout = cache.layout();
  Token token(TokenValues(layout));
  for (int layer = 0; layer < static_cast<int>(layout.layers.size()); ++layer) {
    const LayerShape& shape = layout.layers[static_cast<size_t>(layer)];
    const auto dim_k = static_cast<size_t>(shape.head_dim_k), dim_v = static_cast<size_t>(shape.head_dim_v);
    double* const k = token.data() + LayerBegin(layout, layer);
    double* const v = k + static_cast<size_t>(shape.kv_heads) * dim_k;
    for (int head = 0; head < shape.kv_heads; ++head) {
      const auto h = static_cast<size_t>(head);
      cache.Read(layer, row, pos, head, {k + h * dim_k, dim_k}, {v + h * dim_v, dim_v});
    }
  }
  return token;
}

std::vector<Token> ReadRow(const KvCache& cache, int row) {
  std::vector<Token> tokens;
  for (int64_t pos = 0; pos < cache.length(row); ++pos) tokens.push_back(ReadToken(cache, row, pos));
  return tokens;
}

void PoisonSpareSlots(KvCache& cache, int row) {
  const CacheLayout& layout = cache.layout();
  const auto* paged = dynamic_cast<const PagedCache*>(&cache);
  const int64_t room =
      paged == nullptr ? cache.max_len() : static_cast<int64_t>(paged->blocks(row).size()) * paged->block_tokens();
  for (int layer = 0; layer < static_cast<int>(layout.layers.size()); ++layer) {
    const LayerShape& shape = layout.layers[static_cast<size_t>(layer)];
    const TileGeometry geometry = cache.Geometry(layer);
    const bool interleaved = geometry.key_order == KeyOrder::kInterleaved;
    for (int64_t pos = cache.length(row); pos < room; ++pos) {
      const std::byte *k = nullptr, *v = nullptr;
      cache.Tiles(layer, row, pos / cache::kTileTokens, {&k, 1}, {&v, 1});
      const int64_t slot = pos % cache::kTileTokens;
      for (int head = 0; head < shape.kv_heads; ++head) {
        PoisonTile(const_cast<std::byte*>(k) + head * geometry.k_head_bytes,
                   interleaved ? slot : slot * shape.head_dim_k, interleaved ? cache::kTileTokens : 1, shape.head_dim_k,
                   DTypeBytes(layout.dtype_k, 1));
        PoisonTile(const_cast<std::byte*>(v) + head * geometry.v_head_bytes, slot * shape.head_dim_v, 1,
                   shape.head_dim_v, DTypeBytes(layout.dtype_v, 1));
      }
    }
  }
}

void Twin::Append(int row, std::span<const Token> tokens) {
  for (const Token& token : tokens) rows_[static_cast<size_t>(row)].push_back(Stored(layout_, token));
}

void Twin::Permute(std::span<const int> source) {
  const std::vector<std::vector<Token>> old = rows_;
  for (size_t row = 0; row < rows_.size(); ++row) rows_[row] = old[static_cast<size_t>(source[row])];
}

void Twin::ExpectEqual(const KvCache& cache) const {
  ASSERT_EQ(cache.rows(), static_cast<int>(rows_.size()));
  for (int row = 0; row < cache.rows(); ++row) {
    ASSERT_EQ(cache.length(row), length(row)) << "row " << row;
    for (int64_t pos = 0; pos < length(row); ++pos) {
      ASSERT_EQ(ReadToken(cache, row, pos), rows_[static_cast<size_t>(row)][static_cast<size_t>(pos)])
          << "row " << row << ", token " << pos;
    }
  }
}

TEST(Twin, Stored_RoundsKeysAndValuesToTheirOwnTypes) {
  const CacheLayout layout{
      .layers = {{.kv_heads = 1, .head_dim_k = 1, .head_dim_v = 1}}, .dtype_k = DType::kBF16, .dtype_v = DType::kF16};
  EXPECT_EQ(Stored(layout, {1.00390625, 1.00048828125}), (Token{1.0, 1.0}));  // ties go to even
  EXPECT_EQ(Stored(layout, {1.01171875, 1.00146484375}), (Token{1.015625, 1.001953125}));
}

TEST(Twin, Permute_TakesAllSourcesAtOnce) {
  const CacheLayout layout = CacheLayout::Uniform(1, {}, DType::kF64);
  Twin twin(layout, 3);
  for (int row = 0; row < 3; ++row) twin.Append(row, std::vector<Token>{{row * 1.0, row * 2.0}});
  twin.Permute(std::vector<int>{2, 0, 0});
  EXPECT_EQ(twin.row(0)[0][0], 2.0);
  EXPECT_EQ(twin.row(1)[0][0], 0.0);
  EXPECT_EQ(twin.row(2)[0][0], 0.0);
}

}  // namespace ekvi::testing
