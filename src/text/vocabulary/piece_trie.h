// Texts of tokens by their bytes, for finding all that begin at one place of a text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ekvi::text {

// A trie whose edges lie in one hash table, keyed so that no vocabulary can make them collide. 20 to 40 bytes per node.
class PieceTrie {
 public:
  PieceTrie();

  // `text` is not empty. One that is there already gets the new id.
  void Add(std::string_view text, int32_t id);

  static constexpr uint32_t kRoot = 0, kNowhere = UINT32_MAX;
  // The node that `byte` leads to.
  uint32_t Step(uint32_t node, uint8_t byte) const {
    if (node == kRoot) return first_[byte];
    const uint64_t key = uint64_t{node} << 8 | byte;
    for (size_t at = Place(key);; at = (at + 1) & mask_) {
      if (edges_[at].key == key) return edges_[at].child;
      if (edges_[at].child == kNowhere) return kNowhere;
    }
  }
  // The token whose text ends at a node; -1: none.
  int32_t Token(uint32_t node) const { return tokens_[node]; }

 private:
  struct Edge {
    uint64_t key = 0;
    uint32_t child = kNowhere;
  };
  size_t Place(uint64_t key) const {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(key ^ key_) * factor_;
    return (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) & mask_;
  }
  void Insert(uint64_t key, uint32_t child);
  void Grow();

  std::array<uint32_t, 256> first_;
  std::vector<Edge> edges_;
  size_t mask_, edge_count_ = 0;
  std::vector<int32_t> tokens_;
  uint64_t key_, factor_;
};

}  // namespace ekvi::text
