// Texts of a vocabulary's tokens, copied, and their ids: what a text is looked up in.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "text/vocabulary/piece_index.h"

namespace ekvi::text {

// Movable; views stay valid.
class PieceTable {
 public:
  PieceTable() = default;
  // Room for `count` texts; no more may be added.
  explicit PieceTable(size_t count) : index_(count) {}

  // A text that is there already gets the new id.
  void Add(std::string_view text, int32_t id);
  std::optional<int32_t> Find(std::string_view text) const {
    return text.size() > bytes_max_ ? std::nullopt : index_.Find(text);
  }
  // Of the longest text.
  size_t bytes_max() const { return bytes_max_; }

 private:
  PieceIndex index_;
  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_bytes_ = 0, free_ = 0;  // of the last chunk: all, and those left
  size_t bytes_max_ = 0;
};

}  // namespace ekvi::text
