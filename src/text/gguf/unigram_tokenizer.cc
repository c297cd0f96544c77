#include "text/gguf/unigram_tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace ekvi::text {
namespace {

constexpr double kUnknownPenalty = 10;  // SentencePiece's, unigram_model.cc

std::unique_ptr<const UnigramModel> MakeModel(const Vocabulary& vocabulary) {
  PieceTrie texts;
  std::vector<double> scores(static_cast<size_t>(vocabulary.size()));
  double least = 0;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const PieceKind kind = vocabulary.Kind(id);
    const std::string_view piece = vocabulary.Piece(id);
    scores[id] = kind == PieceKind::kUserDefined ? 0 : vocabulary.Score(id);
    if (kind == PieceKind::kNormal) least = std::min(least, scores[id]);
    const bool text = kind == PieceKind::kNormal || kind == PieceKind::kUserDefined;
    if (text && !piece.empty()) texts.Add(piece, id);
  }
  const ByteTokens& byte_tokens = vocabulary.byte_tokens();
  const bool any_byte = byte_tokens != kNoByteTokens;
  const UnigramOptions options{
      .unknown = vocabulary.unknown(), .byte_fallback = any_byte, .unknown_score = least - kUnknownPenalty};
  return std::make_unique<UnigramModel>(options, std::move(texts), std::move(scores), byte_tokens);
}

}  // namespace

UnigramTokenizer::UnigramTokenizer(Vocabulary vocabulary, std::optional<Charsmap> charsmap, UnigramSpaces spaces)
    : GgufTokenizer("Unigram", std::move(vocabulary)),
      charsmap_(std::move(charsmap)),
      spaces_(spaces),
      model_(MakeModel(this->vocabulary())) {}

std::string UnigramTokenizer::Normalise(std::string_view text) const {
  std::string normal;
  for (size_t at = 0; at < text.size();) {
    const auto match = charsmap_ ? charsmap_->Longest(text.substr(at)) : std::nullopt;
    const base::Utf8Head head = base::ReadUtf8Head(text.substr(at));
    const bool character = head.kind == base::Utf8Kind::kCharacter;
    normal += match ? match->replacement : character ? text.substr(at, head.bytes) : base::kReplacementCharacter;
    at += match ? match->bytes : character ? head.bytes : 1;
    CheckNormalizedBytes(normal.size());
  }
  std::string marked;
  bool space_due = vocabulary().add_space_prefix();
  if (spaces_ == UnigramSpaces::kAll && space_due) marked = kSpaceMark;
  for (const char c : normal) {
    if (spaces_ == UnigramSpaces::kAll) {
      marked += c == ' ' ? kSpaceMark : std::string_view(&c, 1);
    } else if (c == ' ') {
      space_due |= !marked.empty();
    } else {
      if (std::exchange(space_due, false)) marked += kSpaceMark;
      marked += c;
    }
  }
  return marked;
}

void UnigramTokenizer::EncodePlain(std::string_view text, TextPlace, std::vector<int32_t>& ids) const {
  const std::string normal = Normalise(text);
  if (!normal.empty()) model_->NewEncoder(normal.size(), ids)->Encode(normal);
}

void UnigramTokenizer::AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const {
  AppendUnmarked(piece, place, bytes);
}

}  // namespace ekvi::text
