// The blocks of one sequence, in order: token pos lies in block pos / block_tokens of the table.
//
// A table is one owner of each block it names. Fork makes it a second owner of another's blocks; MakeWritable is the
// only place that orders a copy. It lives in storage that its cache gives it and never allocates. Requirements are
// EKVI_CHECK. Threads: as BlockPool. Cost: O(blocks touched).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cache/block_pool.h"

namespace ekvi::cache {

// The bytes of block `from` are to be copied to block `to`, which has one owner.
struct CopyOrder {
  int32_t from;
  int32_t to;
};

class BlockTable {
 public:
  // `pool` and `storage` outlive the table; it holds up to storage.size() blocks.
  BlockTable(BlockPool* pool, std::span<int32_t> storage) : pool_(pool), storage_(storage) {}
  BlockTable(const BlockTable&) = delete;  // a copy would be an owner that nobody counted
  BlockTable& operator=(const BlockTable&) = delete;
  BlockTable(BlockTable&&) = default;  // what was moved from is only good to be assigned to
  BlockTable& operator=(BlockTable&&) = default;

  int64_t size() const { return size_; }
  std::span<const int32_t> blocks() const { return storage_.first(static_cast<size_t>(size_)); }
  int32_t operator[](int64_t index) const { return blocks()[static_cast<size_t>(index)]; }

  // Takes `count` more blocks. Requires that many free blocks and that much storage.
  void Grow(int64_t count);
  // Gives up all blocks from index `size` on, the last one first, so that a sequence's end is reused before its start.
  void Shrink(int64_t size);
  // Gives up its own blocks and becomes one more owner of all of `other`'s.
  void Fork(const BlockTable& other);
  // Where block `index` has other owners, a free block takes its place and the order to copy is returned. Requires a
  // free block then.
  std::optional<CopyOrder> MakeWritable(int64_t index);

  // Undo the latest Grow (back to `size` blocks) or MakeWritable of block `index`, latest first: table and pool are as
  // they were, the order of the free list included.
  void UndoGrow(int64_t size);
  void UndoMakeWritable(int64_t index, int32_t original);

 private:
  int32_t& At(int64_t index) { return storage_[static_cast<size_t>(index)]; }

  BlockPool* pool_;
  std::span<int32_t> storage_;
  int64_t size_ = 0;
};

}  // namespace ekvi::cache
