// Texts of tokens by their bytes, for finding all that begin at one place of a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary/keyed_table.h"

namespace ekvi::text {

// A trie whose edges lie in one table. 17 bytes per node, twice that at most.
class PieceTrie {
 public:
  PieceTrie() { first_.fill(kNowhere); }

  // `text` is not empty. One that is there already gets the new id. Error(kUnsupported) past 2^24 nodes, about as many
  // as there are different beginnings of texts.
  void Add(std::string_view text, int32_t id);

  static constexpr uint32_t kRoot = 0, kNowhere = UINT32_MAX;
  // The node that `byte` leads to.
  uint32_t Step(uint32_t node, uint8_t byte) const {
    if (node == kRoot) return first_[byte];
    const uint32_t* const next = edges_.Find(node << 8 | byte);
    return next == nullptr ? kNowhere : *next;
  }
  // The token whose text ends at a node; -1: none.
  int32_t Token(uint32_t node) const { return tokens_[node]; }

 private:
  static constexpr size_t kNodesMax = size_t{1} << 24;  // an edge is a node and a byte in 32 bits

  std::array<uint32_t, 256> first_;
  KeyedTable<uint32_t, uint32_t, kNowhere> edges_;
  std::vector<int32_t> tokens_{-1};
};

}  // namespace ekvi::text
