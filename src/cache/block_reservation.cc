#include "cache/block_reservation.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "base/checked.h"
#include "base/fault.h"
#include "ekvi/cache_layout.h"

namespace ekvi::cache {
namespace {

int64_t SlotsUsed(const RowGrowth& growth, size_t row) { return growth.lengths[row] % growth.block_tokens; }

// The block that a row continues in the middle.
std::optional<int32_t> ContinuedBlock(const RowGrowth& growth, size_t row) {
  if (growth.counts[row] == 0 || SlotsUsed(growth, row) == 0) return std::nullopt;
  const BlockTable& table = growth.tables[row];
  return table[table.size() - 1];
}

bool MustCopy(const BlockPool& pool, const RowGrowth& growth, size_t row) {
  const std::optional<int32_t> block = ContinuedBlock(growth, row);
  if (!block || pool.owners(*block) == 1) return false;
  int writers = 0;
  for (size_t other = 0; other < growth.tables.size(); ++other) {
    if (ContinuedBlock(growth, other) != block) continue;
    ++writers;
    if (std::pair(growth.lengths[other], other) > std::pair(growth.lengths[row], row)) return true;
  }
  return writers < pool.owners(*block);
}

int64_t BlocksAfter(const RowGrowth& growth, size_t row) {
  return BlocksFor(growth.lengths[row] + growth.counts[row], growth.block_tokens);
}

}  // namespace

BlockReservation::BlockReservation(int rows) : rows_(static_cast<size_t>(rows)) { copies_.reserve(rows_.size()); }

std::optional<BlockShortage> BlockReservation::Plan(const BlockPool& pool, const RowGrowth& growth) {
  EKVI_CHECK(growth.tables.size() == rows_.size());
  const bool shared_write = base::Injected(base::Fault::kSharedWrite);
  int64_t needed = 0;
  std::optional<int> short_row;
  for (size_t row = 0; row < rows_.size(); ++row) {
    const int64_t blocks = growth.tables[row].size();
    rows_[row] = {.blocks = blocks, .copies = !shared_write && MustCopy(pool, growth, row)};
    const int64_t more = BlocksAfter(growth, row) - blocks + (rows_[row].copies ? 1 : 0);
    needed = base::CheckedAdd(needed, more).value_or(INT64_MAX);
    if (needed > pool.free_count() && !short_row) short_row = static_cast<int>(row);
  }
  if (!short_row) return std::nullopt;
  return BlockShortage{.row = *short_row, .needed = needed};
}

std::span<const BlockCopy> BlockReservation::Take(const RowGrowth& growth) {
  copies_.clear();
  for (size_t row = 0; row < rows_.size(); ++row) {
    BlockTable& table = growth.tables[row];
    if (rows_[row].copies) {
      const std::optional<CopyOrder> order = table.MakeWritable(table.size() - 1);
      EKVI_CHECK(order.has_value());
      rows_[row].original = order->from;
      copies_.push_back({.order = *order, .tokens = SlotsUsed(growth, row)});
    }
    table.Grow(BlocksAfter(growth, row) - table.size());
  }
  return copies_;
}

void BlockReservation::GiveBack(std::span<BlockTable> tables) {
  for (size_t row = rows_.size(); row-- > 0;) {
    tables[row].UndoGrow(rows_[row].blocks);
    if (rows_[row].original != kNone) tables[row].UndoMakeWritable(rows_[row].blocks - 1, rows_[row].original);
  }
}

}  // namespace ekvi::cache
