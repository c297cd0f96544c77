// For tests: the obvious cache (a list of tokens per row) and the means to drive a real one beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "ekvi/cache.h"

namespace ekvi::testing {

// One token in all layers: for each layer k[kv_heads, head_dim_k], then v[kv_heads, head_dim_v], side by side.
using Token = std::vector<double>;

size_t TokenValues(const CacheLayout& layout);

// A storage to test: contiguous where block_tokens is 0.
struct Storage {
  int block_tokens = 0;
  int64_t block_count = 0;
};
std::unique_ptr<KvCache> MakeCache(const CacheLayout& layout, int rows, int64_t max_len, const Storage& storage);

// Four layers of different shape: head sizes 1, 3, 16, 33, keys and values of different size.
CacheLayout UnevenLayout(DType dtype_k, DType dtype_v);

std::vector<Token> DrawTokens(const CacheLayout& layout, int64_t count, base::Random& random);
// What a cache of this layout gives back for the token.
Token Stored(const CacheLayout& layout, const Token& token);

// Writes all tokens of `row`, in all layers, as T, from arrays with gaps between tokens and heads.
template <typename T>
void WriteTokens(Append& append, int row, std::span<const Token> tokens);
// BeginAppend, write, Commit for one row.
void AppendTokens(KvCache& cache, int row, std::span<const Token> tokens);
// BeginAppend for one row alone.
Append BeginRow(KvCache& cache, int row, int64_t count);

Token ReadToken(const KvCache& cache, int row, int64_t pos);
std::vector<Token> ReadRow(const KvCache& cache, int row);

// Overwrites every slot behind the committed end of a row, in all layers and heads, with bytes that read as NaN.
void PoisonSpareSlots(KvCache& cache, int row);

// What the cache should hold: row r's tokens as Stored gives them.
class Twin {
 public:
  Twin(CacheLayout layout, int rows) : layout_(std::move(layout)), rows_(static_cast<size_t>(rows)) {}

  void Append(int row, std::span<const Token> tokens);
  void Truncate(int row, int64_t length) { rows_[static_cast<size_t>(row)].resize(static_cast<size_t>(length)); }
  void Fork(int from, int to) { rows_[static_cast<size_t>(to)] = rows_[static_cast<size_t>(from)]; }
  void Permute(std::span<const int> source);
  int64_t length(int row) const { return static_cast<int64_t>(rows_[static_cast<size_t>(row)].size()); }
  const std::vector<Token>& row(int row) const { return rows_[static_cast<size_t>(row)]; }

  // Whether every length, token and value is the same; the first difference fails the test. (0 == -0, NaN == NaN.)
  void ExpectEqual(const KvCache& cache) const;

 private:
  CacheLayout layout_;
  std::vector<std::vector<Token>> rows_;
};

}  // namespace ekvi::testing
