#include "text/gguf/gguf_tokenizer.h"

#include "base/utf8.h"

namespace ekvi::text {

std::string MarkSpaces(std::string_view text, bool prefix) {
  std::string marked(prefix ? kSpaceMark : std::string_view());
  marked.reserve(marked.size() + text.size() + text.size() / 2);
  for (const char c : text) {
    if (c == ' ') {
      marked += kSpaceMark;
    } else {
      marked += c;
    }
  }
  return marked;
}

GgufTokenizer::GgufTokenizer(std::string_view name, Vocabulary vocabulary)
    : Tokenizer(name, std::move(vocabulary)),
      always_(this->vocabulary(), {PieceKind::kUserDefined}),
      on_request_(this->vocabulary(), {PieceKind::kUserDefined, PieceKind::kControl, PieceKind::kUnknown}) {}

void GgufTokenizer::EncodeText(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& ids) const {
  TextPlace place;
  const auto parts = options.special ? on_request_.Split(text, {options.plain, &always_}) : always_.Split(text);
  for (const TextPart& part : parts) {
    if (part.token) {
      ids.push_back(*part.token);
    } else {
      EncodePlain(part.text, place, ids);
    }
    place.start = part.token.has_value();
  }
}

void GgufTokenizer::AppendUnmarked(std::string_view piece, TextPlace place, std::string& bytes) const {
  const size_t begin = bytes.size();
  for (size_t at = 0; at < piece.size();) {
    const bool mark = piece.substr(at).starts_with(kSpaceMark);
    bytes += mark ? ' ' : piece[at];
    at += mark ? kSpaceMark.size() : 1;
  }
  const bool prefix = place.start && vocabulary().add_space_prefix();
  if (prefix && bytes.size() > begin && bytes[begin] == ' ') bytes.erase(begin, 1);
}

void GgufTokenizer::AppendToken(int32_t token, TextPlace& place, std::string& bytes) const {
  const std::string_view piece = vocabulary().Piece(token);
  const TextPlace here = place;
  const PieceKind kind = vocabulary().Kind(token);
  place.start = kind == PieceKind::kControl || kind == PieceKind::kUserDefined;
  switch (kind) {
    case PieceKind::kControl:
      return;
    case PieceKind::kUserDefined:
      return AppendUserDefined(piece, bytes);
    case PieceKind::kUnknown:
      bytes += base::kReplacementCharacter;
      return;
    case PieceKind::kByte:
      return AppendPiece(std::string(1, static_cast<char>(*ByteOfPiece(piece))), here, bytes);
    default:
      return AppendPiece(piece, here, bytes);
  }
}

}  // namespace ekvi::text
