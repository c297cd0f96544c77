#include "cache/block_pool.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "ekvi/cache_layout.h"

namespace ekvi::cache {

BlockPool::BlockPool(int64_t block_count) {
  EKVI_CHECK(0 <= block_count && block_count <= kMaxCacheBlocks);
  owners_.assign(static_cast<size_t>(block_count), 0);
  next_.assign(static_cast<size_t>(block_count), kNone);
  for (int64_t block = 0; block < block_count; ++block) LinkYoungest(static_cast<int32_t>(block));
}

int32_t BlockPool::owners(int32_t block) const {
  EKVI_CHECK(0 <= block && block < block_count());
  return owners_[static_cast<size_t>(block)];
}

int32_t& BlockPool::Owners(int32_t block) {
  EKVI_CHECK(0 <= block && block < block_count());
  return owners_[static_cast<size_t>(block)];
}

int32_t BlockPool::Take() {
  EKVI_CHECK_OP(>, free_count_, 0);
  const int32_t block = oldest_;
  int32_t& next = next_[static_cast<size_t>(block)];
  oldest_ = next;
  if (oldest_ == kNone) youngest_ = kNone;
  next = kUsed;
  --free_count_;
  Owners(block) = 1;
  return block;
}

void BlockPool::Share(int32_t block) {
  int32_t& owners = Owners(block);
  EKVI_CHECK_OP(>, owners, 0);
  ++owners;
}

void BlockPool::Release(int32_t block) {
  int32_t& owners = Owners(block);
  EKVI_CHECK_OP(>, owners, 0);
  if (--owners == 0) LinkYoungest(block);
}

void BlockPool::PutBack(int32_t block) {
  int32_t& owners = Owners(block);
  EKVI_CHECK_OP(==, owners, 1);
  owners = 0;
  next_[static_cast<size_t>(block)] = oldest_;
  oldest_ = block;
  if (youngest_ == kNone) youngest_ = block;
  ++free_count_;
}

void BlockPool::LinkYoungest(int32_t block) {
  next_[static_cast<size_t>(block)] = kNone;
  if (youngest_ == kNone) {
    oldest_ = block;
  } else {
    next_[static_cast<size_t>(youngest_)] = block;
  }
  youngest_ = block;
  ++free_count_;
}

void BlockPool::ShuffleFree(uint64_t seed) {
  std::vector<int32_t> blocks = FreeBlocks();
  base::Random random(seed);
  for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random.Below(i)]);
  oldest_ = youngest_ = kNone;
  free_count_ = 0;
  for (const int32_t block : blocks) LinkYoungest(block);
}

std::vector<int32_t> BlockPool::FreeBlocks() const {
  std::vector<int32_t> blocks;
  blocks.reserve(static_cast<size_t>(free_count_));
  for (int32_t block = oldest_; block != kNone; block = next_[static_cast<size_t>(block)]) {
    EKVI_CHECK_OP(<, static_cast<int64_t>(blocks.size()), free_count_);
    blocks.push_back(block);
  }
  EKVI_CHECK_OP(==, static_cast<int64_t>(blocks.size()), free_count_);
  return blocks;
}

}  // namespace ekvi::cache
