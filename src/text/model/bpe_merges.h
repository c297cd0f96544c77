// The merges of a byte-pair encoding: which two neighbours may join, in which order, and what they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ekvi::text {

struct BpeMerge {
  int32_t left, right, result;
};

// A hash table with open addressing, keyed as PieceIndex is, so that no file can make its entries collide.
class BpeMerges {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Entry {
    uint32_t rank = kNone;  // place in the list: lower joins first
    int32_t result = -1;
  };

  BpeMerges() : BpeMerges(std::vector<BpeMerge>()) {}
  // In order of rank; of two for the same pair the later counts. Fewer than 2^32 - 1.
  explicit BpeMerges(const std::vector<BpeMerge>& merges);

  // rank kNone where the two do not join.
  Entry Find(int32_t left, int32_t right) const {
    const uint64_t pair = Pair(left, right);
    for (size_t at = Place(pair);; at = (at + 1) & mask_) {
      if (slots_[at].pair == pair) return slots_[at].entry;
      if (slots_[at].entry.rank == kNone) return {};
    }
  }

 private:
  struct Slot {
    uint64_t pair = 0;
    Entry entry;
  };

  static uint64_t Pair(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  size_t Place(uint64_t pair) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(pair ^ key_) * factor_;
    return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) & mask_;
  }

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  uint64_t key_ = 0, factor_ = 1;
};

}  // namespace ekvi::text
