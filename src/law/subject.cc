#include "law/subject.h"

namespace ekvi::law {

std::unique_ptr<KvCache> MakeCache(const CacheLayout& layout, const Storage& storage, int rows, int64_t max_len) {
  if (!storage.paged) return std::make_unique<ContiguousCache>(layout, ContiguousShape{rows, max_len});
  const int64_t blocks = rows * BlocksFor(max_len, storage.block_tokens);
  auto cache = std::make_unique<PagedCache>(layout, PagedShape{rows, max_len, storage.block_tokens, blocks});
  if (storage.shuffled) cache->ShuffleFreeBlocks(5);
  return cache;
}

}  // namespace ekvi::law
