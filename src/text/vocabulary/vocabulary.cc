#include "text/vocabulary/vocabulary.h"

#include <utility>

#include "base/check.h"

namespace ekvi::text {
namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

}  // namespace

std::optional<uint8_t> ByteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  const auto high = HexDigit(piece[3]), low = HexDigit(piece[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<uint8_t>(*high * 16 + *low);
}

Vocabulary::Vocabulary(VocabularyParts parts)
    : pieces_(std::move(parts.pieces)),
      kinds_(std::move(parts.kinds)),
      scores_(std::move(parts.scores)),
      begin_(parts.begin),
      unknown_(parts.unknown),
      ends_(std::move(parts.ends)),
      prefix_(std::move(parts.prefix)),
      add_space_prefix_(parts.add_space_prefix) {
  EKVI_CHECK_OP(==, pieces_.size(), kinds_.size());
  EKVI_CHECK(scores_.empty() || scores_.size() == pieces_.size());
  if (begin_) Checked(*begin_);
  if (unknown_) Checked(*unknown_);
  for (const int32_t end : ends_) Checked(end);
  if (prefix_.empty() && parts.add_begin && begin_) prefix_ = {*begin_};
  for (const int32_t id : prefix_) Checked(id);

  byte_tokens_.fill(-1);
  for (size_t id = 0; id < pieces_.size(); ++id) {
    if (kinds_[id] != PieceKind::kByte) continue;
    const auto byte = ByteOfPiece(pieces_[id]);
    EKVI_CHECK(byte.has_value());
    byte_tokens_[*byte] = static_cast<int32_t>(id);
  }
}

size_t Vocabulary::Checked(int32_t id) const {
  EKVI_CHECK_OP(>=, id, 0);
  EKVI_CHECK_OP(<, id, size());
  return static_cast<size_t>(id);
}

}  // namespace ekvi::text
