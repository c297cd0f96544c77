// Grouped attention over a cache on plain float arrays: six tokens in one step, then one by one, give the same bits.
#include "ekvi/attention.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ekvi/cache.h"

using Floats = std::vector<float>;
constexpr int64_t kTokens = 6, kQHeads = 4, kKvHeads = 2, kDim = 8, kQ = kQHeads * kDim, kKv = kKvHeads * kDim;

// q[token, q_head, dim], k and v[token, kv_head, dim], taken `step` tokens at a time; the result has the shape of q.
Floats Attend(const Floats& q, const Floats& k, const Floats& v, int64_t step) {
  const auto layout = ekvi::CacheLayout::Uniform(1, {kKvHeads, kDim, kDim}, ekvi::DType::kF32);
  ekvi::ContiguousCache cache(layout, {.rows = 1, .max_len = kTokens});
  ekvi::Attention attention(layout, {{.q_heads = kQHeads}});
  Floats out(q.size());
  for (int64_t t = 0; t < kTokens; t += step) {
    const int64_t counts[] = {step}, first[] = {t * kQ};
    ekvi::Append append = cache.BeginAppend(counts);
    append.Write<float>(0, 0, {&k[t * kKv], &v[t * kKv], kKv, kDim, kKv, kDim});
    attention.Plan(append, first, first);
    attention.Run(0, {q.data(), kQ, kDim}, {out.data(), kQ, kDim});
    append.Commit();
  }
  return out;
}

int main() {
  Floats q(kTokens * kQ), k(kTokens * kKv), v(kTokens * kKv);
  for (size_t i = 0; i < q.size(); ++i) q[i] = std::sin(1.0f * i);
  for (size_t i = 0; i < k.size(); ++i) k[i] = std::sin(2.0f * i), v[i] = std::cos(3.0f * i);
  const Floats whole = Attend(q, k, v, kTokens), one_by_one = Attend(q, k, v, 1);
  const bool same = std::memcmp(whole.data(), one_by_one.data(), whole.size() * sizeof(float)) == 0;
  std::printf("out[5, 3, 7] = %.9g; one by one: %s\n", whole.back(), same ? "identical bits" : "other bits");
  return same ? 0 : 1;
}
