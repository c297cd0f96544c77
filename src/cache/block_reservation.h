// The blocks that one append takes for all rows of a paged cache: planned without effect, taken, or given back exactly.
//
// Two passes, so that a refusal changes nothing: Plan counts what all rows need, Take takes it in row order, GiveBack
// undoes Take in reverse order, the order of the free list included.
//
// A partial last block with several owners is replaced by a copy before it is written. One owner may keep the original:
// when all of them write in the same append, the longest row does (the last of equals), since nobody sees the slots
// behind its end, not even when the append is dropped.
//
// Threads: as BlockPool. Cost: O(rows), O(rows²) among rows with shared partial blocks; allocates in the constructor
// only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/block_pool.h"
#include "cache/block_table.h"

namespace ekvi::cache {

// Row r has lengths[r] tokens in tables[r] and is to receive counts[r] more.
struct RowGrowth {
  std::span<BlockTable> tables;
  std::span<const int64_t> lengths;
  std::span<const int64_t> counts;
  int block_tokens;
};

// The first `tokens` tokens of a block are to be copied to another.
struct BlockCopy {
  CopyOrder order;
  int64_t tokens;
};

// The first row for which no block is left, and the blocks that all rows need together.
struct BlockShortage {
  int row;
  int64_t needed;
};

class BlockReservation {
 public:
  explicit BlockReservation(int rows);

  // What the append lacks, or nothing. Changes no table and no block.
  std::optional<BlockShortage> Plan(const BlockPool& pool, const RowGrowth& growth);
  // Takes what Plan, called just before with the same arguments, found to be there. The copies are to be made before
  // the blocks are written; valid until the next Take.
  std::span<const BlockCopy> Take(const RowGrowth& growth);
  // Undoes the latest Take.
  void GiveBack(std::span<BlockTable> tables);

 private:
  static constexpr int32_t kNone = -1;
  struct Row {
    int64_t blocks = 0;        // before the append
    int32_t original = kNone;  // the last of them, where a copy took its place
    bool copies = false;       // a copy will take its place
  };

  std::vector<Row> rows_;
  std::vector<BlockCopy> copies_;
};

}  // namespace ekvi::cache
