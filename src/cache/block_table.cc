#include "cache/block_table.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace ekvi::cache {

void BlockTable::Grow(int64_t count) {
  EKVI_CHECK_OP(<=, count, static_cast<int64_t>(storage_.size()) - size_);
  for (int64_t i = 0; i < count; ++i) At(size_++) = pool_->Take();
}

void BlockTable::Shrink(int64_t size) {
  EKVI_CHECK(0 <= size && size <= size_);
  while (size_ > size) pool_->Release(At(--size_));
}

void BlockTable::Fork(const BlockTable& other) {
  EKVI_CHECK_OP(<=, other.size(), static_cast<int64_t>(storage_.size()));
  if (&other == this) return;
  for (const int32_t block : other.blocks()) pool_->Share(block);
  Shrink(0);
  std::ranges::copy(other.blocks(), storage_.begin());
  size_ = other.size_;
}

std::optional<CopyOrder> BlockTable::MakeWritable(int64_t index) {
  EKVI_CHECK(0 <= index && index < size_);
  const int32_t shared = At(index);
  if (pool_->owners(shared) == 1) return std::nullopt;
  const int32_t own = pool_->Take();
  pool_->Release(shared);
  At(index) = own;
  return CopyOrder{.from = shared, .to = own};
}

void BlockTable::UndoGrow(int64_t size) {
  EKVI_CHECK(0 <= size && size <= size_);
  while (size_ > size) pool_->PutBack(At(--size_));
}

void BlockTable::UndoMakeWritable(int64_t index, int32_t original) {
  EKVI_CHECK(0 <= index && index < size_);
  pool_->Share(original);
  pool_->PutBack(At(index));
  At(index) = original;
}

}  // namespace ekvi::cache
