// Which keys a token sees: index arithmetic on absolute positions, the one place where the causal rule, windows and
// sink tokens are decided. No mask matrix exists.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/kernels.h"

namespace ekvi::attend {

// Keys [0, sink_end) and [begin, end), sink_end < begin or sink_end = 0.
struct VisibleKeys {
  int64_t sink_end = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const VisibleKeys&) const = default;
};

// What the token at absolute position `position` sees: keys 0 … position, cut to the last `window` (0: all), and the
// first `sink_tokens` besides.
inline VisibleKeys VisibleFrom(int64_t position, int64_t window, int64_t sink_tokens) {
  const int64_t end = position + 1;
  const int64_t begin = window > 0 ? std::max<int64_t>(0, end - window) : 0;
  if (begin <= sink_tokens) return {.sink_end = 0, .begin = 0, .end = end};
  return {.sink_end = sink_tokens, .begin = begin, .end = end};
}

// The part inside one chunk, relative to its first key; returns the number of ranges, 0 … 2.
inline int RangesInChunk(const VisibleKeys& keys, int64_t chunk, kernels::KeyRange out[2]) {
  const int64_t first = chunk * kernels::kChunkKeys;
  int count = 0;
  const auto add = [&](int64_t begin, int64_t end) {
    begin = std::max<int64_t>(begin - first, 0);
    end = std::min<int64_t>(end - first, kernels::kChunkKeys);
    if (begin < end) out[count++] = {static_cast<int>(begin), static_cast<int>(end)};
  };
  add(0, keys.sink_end);
  add(keys.begin, keys.end);
  return count;
}

// The chunks that tokens between two positions visit, in order: 0 … sink_count - 1, then window_first … window_end - 1.
struct ChunkList {
  int64_t sink_count = 0;
  int64_t window_first = 0;
  int64_t window_end = 0;

  int64_t count() const { return sink_count + window_end - window_first; }
  int64_t at(int64_t index) const { return index < sink_count ? index : window_first + index - sink_count; }
};

// `first` is what the earliest token sees, `last` the latest: sets of keys only move up with the position.
inline ChunkList ChunksOf(const VisibleKeys& first, const VisibleKeys& last) {
  constexpr int64_t kKeys = kernels::kChunkKeys;
  const int64_t window_first = first.begin / kKeys;
  return {.sink_count = std::min((last.sink_end + kKeys - 1) / kKeys, window_first),
          .window_first = window_first,
          .window_end = (last.end + kKeys - 1) / kKeys};
}

}  // namespace ekvi::attend
