// Eight bytes at a time are folded into the state by a product that holds the key.
#include "text/vocabulary/piece_index.h"

#include <algorithm>
#include <cstring>

namespace ekvi::text {

uint32_t PieceIndex::Hash(std::string_view text) const {
  uint64_t state = text.size();
  while (!text.empty()) {
    uint64_t word = 0;
    const size_t bytes = std::min(text.size(), sizeof(word));
    std::memcpy(&word, text.data(), bytes);
    state = hash_.Of(state ^ word);
    text.remove_prefix(bytes);
  }
  return static_cast<uint32_t>(state >> 32);
}

}  // namespace ekvi::text
