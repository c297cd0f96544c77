#include "text/vocabulary/piece_trie.h"

#include "ekvi/error.h"
#include "files/reader_error.h"

namespace ekvi::text {

void PieceTrie::Add(std::string_view text, int32_t id) {
  uint32_t node = kRoot;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t next = Step(node, byte);
    if (next == kNowhere) {
      if (tokens_.size() == kNodesMax) {
        throw Error(ErrorCode::kUnsupported, "the vocabulary is too large",
                    "over " + files::Digits(kNodesMax) + " different beginnings of pieces",
                    "a vocabulary of fewer or shorter pieces");
      }
      next = static_cast<uint32_t>(tokens_.size());
      tokens_.push_back(-1);
      if (node == kRoot) {
        first_[byte] = next;
      } else {
        edges_.Set(node << 8 | byte, next);
      }
    }
    node = next;
  }
  tokens_[node] = id;
}

}  // namespace ekvi::text
