// The naive twin of attention: one query at a time, heads repeated, every key asked whether it is visible, float64,
// libm.
//
// For tests and the verifier. Cost: O(queries × keys × head_dim); nothing is shared with the code it checks.
#pragma once

#include <cstdint>
#include <span>

#include "ekvi/attention.h"

namespace ekvi::attend {

// One query: q[head_dim_k] of query head `head` at absolute position `position`, over keys k[pos, kv_heads, head_dim_k]
// and values v[pos, kv_heads, head_dim_v]; out[head_dim_v]. A query that sees no key gives zeros.
struct QueryRef {
  const AttentionLayer* layer;
  LayerShape shape;
  int head;
  int64_t position;
  std::span<const double> q, k, v;
};
void AttendRef(const QueryRef& query, std::span<double> out);
// The largest |score| the query meets, after all options.
double LargestScoreRef(const QueryRef& query);

}  // namespace ekvi::attend
