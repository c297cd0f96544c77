// For tests: random attention problems, and the ways through the engine that must all give the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "ekvi/attention.h"
#include "ekvi/cache.h"

namespace ekvi::attend {

// Rows of tokens with their queries, keys and values: q[row][t, q_heads, head_dim_k] and so on.
struct Problem {
  LayerShape shape;
  AttentionLayer layer;
  std::vector<int64_t> lengths;  // [row]
  std::vector<std::vector<double>> q, k, v;

  int rows() const { return static_cast<int>(lengths.size()); }
  int64_t max_length() const;
};

// Values are normal, times `sigma` for queries, rounded to float, so that every arithmetic sees the same numbers.
Problem MakeProblem(LayerShape shape, AttentionLayer layer, std::vector<int64_t> lengths, base::Random& random,
                    double sigma = 1);

// A way through the engine: how the tokens are cut into steps, where they are kept, who computes.
struct Path {
  std::string name;
  bool paged = true;
  int block_tokens = 32;
  uint64_t shuffle = 0;  // not 0: blocks are taken in a shuffled order
  int threads = 1;
  std::string target;     // empty: the best
  int64_t chunk_max = 0;  // tokens a row receives per step at most, drawn at random from 0 on; 0: all at once
  uint64_t seed = 1;      // of the random cuts
};

std::unique_ptr<KvCache> MakeCache(const Problem& problem, DType dtype, const Path& path);

// Outputs [row][t, q_heads, head_dim_v] of all tokens. T is double over kF64, float over the others.
template <typename T>
std::vector<std::vector<T>> RunPath(const Problem& problem, DType dtype, const Path& path);
// The same by the naive twin, keys and values rounded to `dtype` first.
std::vector<std::vector<double>> RunRef(const Problem& problem, DType dtype);
// A value as the cache gives it back.
double Stored(double value, DType dtype);

}  // namespace ekvi::attend
