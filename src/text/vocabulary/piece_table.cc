#include "text/vocabulary/piece_table.h"

#include <algorithm>
#include <string>

#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {

bool PieceTable::Writes(int32_t id, std::string_view text) const {
  const std::string_view piece = pieces_[static_cast<size_t>(id)];
  return spelling_ == Spelling::kPlain ? piece == text : IsAlphabetOf(piece, text);
}

void PieceTable::Add(int32_t id) {
  std::string_view text = pieces_[static_cast<size_t>(id)];
  std::optional<std::string> bytes;
  if (spelling_ == Spelling::kByteAlphabet) {
    bytes = BytesOfPiece(text);
    if (!bytes) return;
    text = *bytes;
  }
  if (text.empty()) return;
  bytes_max_ = std::max(bytes_max_, text.size());
  index_.Set(text, id, [&](int32_t other) { return Writes(other, text); });
}

}  // namespace ekvi::text
