// The merges of a byte-pair encoding: which two neighbours may join, in which order, and what they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/vocabulary/keyed_table.h"

namespace ekvi::text {

struct BpeMerge {
  int32_t left, right, result;
};

// What a pair of neighbours becomes.
struct BpeJoin {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t rank = kNone;  // place in the list: lower joins first; kNone: the two do not join
  int32_t result = -1;
  bool operator==(const BpeJoin& other) const = default;
};

class BpeMerges {
 public:
  BpeMerges() = default;
  // In order of rank; of two for the same pair the later counts. Fewer than 2^32 - 1.
  explicit BpeMerges(const std::vector<BpeMerge>& merges) : entries_(merges.size()) {
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      entries_.Set(Pair(merges[rank].left, merges[rank].right), {static_cast<uint32_t>(rank), merges[rank].result});
    }
  }

  // rank kNone where the two do not join.
  BpeJoin Find(int32_t left, int32_t right) const {
    const BpeJoin* const found = entries_.Find(Pair(left, right));
    return found == nullptr ? BpeJoin() : *found;
  }

 private:
  static uint64_t Pair(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  KeyedTable<uint64_t, BpeJoin, BpeJoin{}> entries_;
};

}  // namespace ekvi::text
