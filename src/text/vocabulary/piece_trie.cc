#include "text/vocabulary/piece_trie.h"

#include <random>
#include <utility>

namespace ekvi::text {

PieceTrie::PieceTrie() : edges_(1024), mask_(1023), tokens_{-1} {
  first_.fill(kNowhere);
  std::random_device random;
  key_ = uint64_t{random()} << 32 | random();
  factor_ = (uint64_t{random()} << 32 | random()) | 1;
}

void PieceTrie::Insert(uint64_t key, uint32_t child) {
  if (2 * ++edge_count_ > edges_.size()) Grow();
  size_t at = Place(key);
  while (edges_[at].child != kNowhere) at = (at + 1) & mask_;
  edges_[at] = {key, child};
}

void PieceTrie::Grow() {
  const std::vector<Edge> old = std::exchange(edges_, std::vector<Edge>(2 * edges_.size()));
  mask_ = edges_.size() - 1;
  edge_count_ = 1;  // the one that is about to come in
  for (const Edge& edge : old) {
    if (edge.child != kNowhere) Insert(edge.key, edge.child);
  }
}

void PieceTrie::Add(std::string_view text, int32_t id) {
  uint32_t node = kRoot;
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    uint32_t next = Step(node, byte);
    if (next == kNowhere) {
      next = static_cast<uint32_t>(tokens_.size());
      tokens_.push_back(-1);
      if (node == kRoot) {
        first_[byte] = next;
      } else {
        Insert(uint64_t{node} << 8 | byte, next);
      }
    }
    node = next;
  }
  tokens_[node] = id;
}

}  // namespace ekvi::text
