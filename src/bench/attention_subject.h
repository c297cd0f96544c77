// Attention over a cache that holds some tokens, prefill or decode.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/subject.h"
#include "ekvi/dtype.h"

namespace ekvi::bench {

// Each row has `past` tokens in a paged cache and attends with `count` more.
struct AttentionShape {
  int q_heads = 32, kv_heads = 8, head_dim = 128;
  std::vector<int64_t> past = {};  // one a row
  int64_t count = 1;
};

std::unique_ptr<Subject> MakeAttentionSubject(const AttentionShape& shape, DType dtype, const Place& place);

}  // namespace ekvi::bench
