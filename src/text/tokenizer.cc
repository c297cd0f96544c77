#include "text/tokenizer.h"

#include <fmt/core.h>

#include "base/utf8.h"
#include "files/reader_error.h"

namespace ekvi::text {
namespace {

// More tokens than any context holds; bounds the memory of the worst text (one word) to about 3 GiB.
constexpr size_t kTextBytesMax = size_t{64} << 20;

Error OutsideVocabulary(int32_t token, int32_t size, std::string where) {
  return Error(ErrorCode::kInvalidArgument, fmt::format("token id {}{} is outside the vocabulary", token, where),
               fmt::format("ids are 0 to {}", size - 1));
}

}  // namespace

Tokenizer::Tokenizer(std::string_view name, Vocabulary vocabulary)
    : name_(name),
      vocabulary_(std::move(vocabulary)),
      always_(vocabulary_, {PieceKind::kUserDefined}),
      on_request_(vocabulary_, {PieceKind::kUserDefined, PieceKind::kControl, PieceKind::kUnknown}) {}

std::string Tokenizer::Description() const { return fmt::format("{} ({} pieces)", name_, vocabulary_.size()); }

std::vector<int32_t> Tokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > kTextBytesMax) {
    throw Error(ErrorCode::kCapacity, "the text is too long to encode at once",
                fmt::format("{} bytes, at most {}", files::Digits(text.size()), files::Digits(kTextBytesMax)),
                "encode it in parts");
  }
  std::vector<int32_t> ids;
  if (options.begin && vocabulary_.add_begin()) ids.push_back(*vocabulary_.begin());
  TextPlace place = TextPlace::kStart;
  for (const TextPart& part : (options.special ? on_request_ : always_).Split(text)) {
    if (part.token) {
      ids.push_back(*part.token);
    } else {
      EncodePlain(part.text, place, ids);
    }
    place = part.token ? TextPlace::kStart : TextPlace::kInside;
  }
  return ids;
}

TextPlace Tokenizer::AppendBytes(int32_t token, TextPlace place, std::string& bytes) const {
  if (!vocabulary_.Contains(token)) throw OutsideVocabulary(token, vocabulary_.size(), "");
  const std::string_view piece = vocabulary_.Piece(token);
  switch (vocabulary_.Kind(token)) {
    case PieceKind::kControl:
      return TextPlace::kStart;
    case PieceKind::kUserDefined:
      AppendPiece(piece, TextPlace::kInside, bytes);
      return TextPlace::kStart;
    case PieceKind::kUnknown:
      bytes += base::kReplacementCharacter;
      break;
    case PieceKind::kByte:
      AppendPiece(std::string(1, static_cast<char>(*ByteOfPiece(piece))), place, bytes);
      break;
    default:
      AppendPiece(piece, place, bytes);
  }
  return TextPlace::kInside;
}

std::string Tokenizer::DecodeBytes(std::span<const int32_t> tokens) const {
  std::string bytes;
  TextPlace place = TextPlace::kStart;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!vocabulary_.Contains(tokens[i])) {
      throw OutsideVocabulary(tokens[i], vocabulary_.size(), fmt::format(" at index {}", i));
    }
    place = AppendBytes(tokens[i], place, bytes);
  }
  return bytes;
}

std::string Tokenizer::Decode(std::span<const int32_t> tokens) const {
  std::string text;
  base::Utf8Stream stream;
  stream.Push(DecodeBytes(tokens), text);
  stream.Finish(text);
  return text;
}

}  // namespace ekvi::text
