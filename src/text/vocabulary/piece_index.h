// Ids by text, for texts that lie elsewhere: 13 bytes each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/vocabulary/keyed_table.h"

namespace ekvi::text {

class PieceIndex {
 public:
  // Room for `count` texts.
  explicit PieceIndex(size_t count = 0) : ids_(count) {}

  // The id of `text`. `is_text(id)` says whether the text of an id, which has been set, is that.
  template <typename IsText>
  std::optional<int32_t> Find(std::string_view text, IsText is_text) const {
    const int32_t* const id = ids_.Find(Hash(text), is_text);
    return id == nullptr ? std::nullopt : std::optional(*id);
  }
  // `id`, at least 0, for `text`, in place of the one that Find would give.
  template <typename IsText>
  void Set(std::string_view text, int32_t id, IsText is_text) {
    ids_.Set(Hash(text), id, is_text);
  }

 private:
  uint32_t Hash(std::string_view text) const;

  HashKey hash_;
  KeyedTable<uint32_t, int32_t, -1> ids_;
};

}  // namespace ekvi::text
