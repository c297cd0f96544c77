// The tokens that text may become, by the text that each writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "text/vocabulary/piece_index.h"
#include "text/vocabulary/pieces.h"

namespace ekvi::text {

// How a token's text is written in its piece: as it is, or each byte as a character of the byte alphabet.
enum class Spelling { kPlain, kByteAlphabet };

// Looks texts up in the pieces themselves, none is copied.
class PieceTable {
 public:
  PieceTable() = default;
  // Room for `count` tokens of `pieces`.
  PieceTable(Pieces pieces, Spelling spelling, size_t count)
      : pieces_(std::move(pieces)), spelling_(spelling), index_(count) {}

  // Adds a token. Nothing where its piece has no text: it is empty, or not of the byte alphabet. Of two with the same
  // text the later counts.
  void Add(int32_t id);
  std::optional<int32_t> Find(std::string_view text) const {
    if (text.size() > bytes_max_) return std::nullopt;
    return index_.Find(text, [&](int32_t id) { return Writes(id, text); });
  }
  // Of the longest text.
  size_t bytes_max() const { return bytes_max_; }

 private:
  bool Writes(int32_t id, std::string_view text) const;

  Pieces pieces_;
  Spelling spelling_ = Spelling::kPlain;
  PieceIndex index_;
  size_t bytes_max_ = 0;
};

}  // namespace ekvi::text
