#include "text/vocabulary/piece_table.h"

#include <algorithm>

namespace ekvi::text {
namespace {

constexpr size_t kChunkBytes = 64 << 10;

}  // namespace

void PieceTable::Add(std::string_view text, int32_t id) {
  if (text.size() > free_ || chunks_.empty()) {
    free_ = std::max(kChunkBytes, text.size());
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(free_));
    chunk_bytes_ = free_;
  }
  char* const copy = chunks_.back().get() + (chunk_bytes_ - free_);
  std::copy(text.begin(), text.end(), copy);
  free_ -= text.size();
  index_.Insert({copy, text.size()}, id);
  bytes_max_ = std::max(bytes_max_, text.size());
}

}  // namespace ekvi::text
