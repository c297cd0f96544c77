// Which blocks are free and how many owners the others have: bookkeeping only, no bytes of keys or values.
//
// Fixed arrays, nothing is allocated after construction. The free list runs through the blocks themselves, from the one
// that was freed longest ago (taken next) to the youngest: it is the list of least recent use.
//
// Invariants (numbers of docs/cache.md): a block is on the free list exactly when it has no owner (2); owners are
// counted by whoever names a block (1). Misuse (a block that does not exist, an owner too few) is EKVI_CHECK. Threads:
// one at a time. Cost: O(1) a call but ShuffleFree and FreeBlocks.
#pragma once

#include <cstdint>
#include <vector>

namespace ekvi::cache {

class BlockPool {
 public:
  // Blocks 0 … block_count - 1, all free, taken in that order. Requires 0 ≤ block_count ≤ kMaxCacheBlocks.
  explicit BlockPool(int64_t block_count);

  int64_t block_count() const { return static_cast<int64_t>(owners_.size()); }
  int64_t free_count() const { return free_count_; }
  int32_t owners(int32_t block) const;

  // The block that has been free longest, now with one owner. Requires a free block.
  int32_t Take();
  // One owner more, or one fewer; the last owner's release makes the block the youngest of the free list.
  void Share(int32_t block);
  void Release(int32_t block);
  // Undoes the latest Take: the block is the next to be taken again. Requires exactly one owner.
  void PutBack(int32_t block);

  // Brings the free list into another order, drawn from `seed`. Allocates.
  void ShuffleFree(uint64_t seed);
  // The free list, next to be taken first. Allocates; for checks and tests.
  std::vector<int32_t> FreeBlocks() const;

 private:
  static constexpr int32_t kNone = -1;
  static constexpr int32_t kUsed = -2;  // next_ of a block with owners

  int32_t& Owners(int32_t block);
  void LinkYoungest(int32_t block);

  std::vector<int32_t> owners_;
  std::vector<int32_t> next_;  // the next younger free block
  int32_t oldest_ = kNone;
  int32_t youngest_ = kNone;
  int64_t free_count_ = 0;
};

}  // namespace ekvi::cache
