// From a piece's bytes to its id: a hash table with open addressing over pieces that lie elsewhere.
//
// The hash is keyed with a number drawn when the table is built, so that no vocabulary can be made whose pieces
// collide. What is found does not depend on that number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ekvi::text {

class PieceIndex {
 public:
  PieceIndex() = default;
  // Room for `count` pieces, 16 to 32 bytes each.
  explicit PieceIndex(size_t count);

  // The bytes must outlive the index. A piece that is there already gets the new id.
  void Insert(std::string_view piece, int32_t id);
  std::optional<int32_t> Find(std::string_view piece) const;

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t bytes = 0;
    int32_t id = -1;  // -1: free
  };

  uint64_t Hash(std::string_view piece) const;
  // The slot that holds `piece`, or the free one where it belongs.
  size_t Locate(std::string_view piece) const;

  std::vector<Slot> slots_;
  uint64_t key_ = 0;
};

}  // namespace ekvi::text
