// What a GGUF file says of its tokenizer, checked as it is read: every array as long as the list of pieces, every id
// inside. Keys after https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, section "Tokenizer"; defaults of
// missing keys are those of llama.cpp for this kind of vocabulary.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "files/reader_error.h"
#include "text/tokenizer.h"
#include "text/tokenizer_spm.h"

namespace ekvi::text {
namespace {

constexpr std::string_view kModelKey = "tokenizer.ggml.model";
constexpr std::string_view kTokensKey = "tokenizer.ggml.tokens";
constexpr std::string_view kScoresKey = "tokenizer.ggml.scores";
constexpr std::string_view kTypesKey = "tokenizer.ggml.token_type";
constexpr std::string_view kBeginKey = "tokenizer.ggml.bos_token_id";
constexpr std::string_view kEndKey = "tokenizer.ggml.eos_token_id";
constexpr std::string_view kUnknownKey = "tokenizer.ggml.unknown_token_id";

constexpr uint64_t kPieceCountMax = uint64_t{1} << 22;
// Bounds the cost of looking at one place of a text; the longest pieces of public models have some hundred bytes.
constexpr size_t kPieceBytesMax = 4096;
constexpr int32_t kUnknownDefault = 0, kBeginDefault = 1, kEndDefault = 2;

void RequireCount(const files::GgufFile& file, std::string_view key, uint64_t count, uint64_t pieces) {
  if (count == pieces) return;
  throw file.KeyError(ErrorCode::kCorrupt, key, "as many items as pieces are wanted",
                      fmt::format("{} items, {} has {}", files::Digits(count), kTokensKey, files::Digits(pieces)));
}

std::vector<std::string_view> ReadPieces(const files::GgufFile& file) {
  const files::GgufStrings strings = file.RequireStrings(kTokensKey);
  if (strings.size() == 0) throw file.KeyError(ErrorCode::kCorrupt, kTokensKey, "no pieces", "0 items");
  if (strings.size() > kPieceCountMax) {
    throw file.KeyError(ErrorCode::kUnsupported, kTokensKey, "too many pieces",
                        fmt::format("{}, at most {}", files::Digits(strings.size()), files::Digits(kPieceCountMax)));
  }
  std::vector<std::string_view> pieces;
  pieces.reserve(strings.size());
  for (const std::string_view piece : strings) {
    if (piece.size() > kPieceBytesMax) {
      throw file.KeyError(
          ErrorCode::kUnsupported, kTokensKey, "a piece is too long",
          fmt::format("piece {} has {} bytes, at most {}", pieces.size(), files::Digits(piece.size()), kPieceBytesMax));
    }
    pieces.push_back(piece);
  }
  return pieces;
}

std::vector<float> ReadScores(const files::GgufFile& file, size_t count) {
  const files::GgufItems<float> items = file.RequireF32s(kScoresKey);
  RequireCount(file, kScoresKey, items.size(), count);
  std::vector<float> scores(count);
  for (size_t i = 0; i < count; ++i) {
    scores[i] = items[i];
    if (std::isnan(scores[i])) {
      throw file.KeyError(ErrorCode::kCorrupt, kScoresKey, "a score is not a number",
                          fmt::format("item {} of {}", i, count));
    }
  }
  return scores;
}

void CheckBytePiece(const files::GgufFile& file, std::string_view piece, size_t id) {
  if (ByteOfPiece(piece)) return;
  throw file.KeyError(ErrorCode::kCorrupt, kTokensKey,
                      fmt::format("byte piece {} is not of the form '<0x0A>'", files::Quote(piece)),
                      fmt::format("piece {} has type 6 (byte) in {}", id, kTypesKey));
}

// Without the key, byte pieces are known by their form and the special ids (below) by their keys.
std::vector<PieceKind> ReadKinds(const files::GgufFile& file, std::span<const std::string_view> pieces) {
  std::vector<PieceKind> kinds(pieces.size(), PieceKind::kNormal);
  const auto types = file.GetI32s(kTypesKey);
  if (types) RequireCount(file, kTypesKey, types->size(), pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t type = types ? (*types)[i] : ByteOfPiece(pieces[i]) ? 6 : 1;
    if (type < 1 || type > 6) {
      throw file.KeyError(ErrorCode::kCorrupt, kTypesKey, "an unknown piece type",
                          fmt::format("item {} is {}, types are 1 to 6", i, type));
    }
    kinds[i] = static_cast<PieceKind>(type);
    if (kinds[i] == PieceKind::kByte) CheckBytePiece(file, pieces[i], i);
  }
  return kinds;
}

std::optional<int32_t> ReadId(const files::GgufFile& file, std::string_view key, size_t count) {
  const auto id = file.GetUint(key);
  if (!id) return std::nullopt;
  if (*id >= count) {
    throw file.KeyError(ErrorCode::kCorrupt, key, "outside the vocabulary",
                        fmt::format("id {}, the vocabulary has {} pieces", files::Digits(*id), files::Digits(count)));
  }
  return static_cast<int32_t>(*id);
}

// The id of the key, else `fallback` where a piece of that kind is there.
std::optional<int32_t> IdOr(std::optional<int32_t> id, int32_t fallback, PieceKind kind,
                            const std::vector<PieceKind>& kinds) {
  if (id) return id;
  const bool there = static_cast<size_t>(fallback) < kinds.size() && kinds[fallback] == kind;
  return there ? std::optional(fallback) : std::nullopt;
}

void ReadSpecialIds(const files::GgufFile& file, VocabularyParts& parts) {
  const size_t count = parts.pieces.size();
  parts.begin = ReadId(file, kBeginKey, count);
  parts.unknown = ReadId(file, kUnknownKey, count);
  std::optional<int32_t> end = ReadId(file, kEndKey, count);
  if (file.Find(kTypesKey) == nullptr) {
    if (parts.begin) parts.kinds[*parts.begin] = PieceKind::kControl;
    if (end) parts.kinds[*end] = PieceKind::kControl;
    if (parts.unknown) parts.kinds[*parts.unknown] = PieceKind::kUnknown;
  }
  parts.begin = IdOr(parts.begin, kBeginDefault, PieceKind::kControl, parts.kinds);
  parts.unknown = IdOr(parts.unknown, kUnknownDefault, PieceKind::kUnknown, parts.kinds);
  end = IdOr(end, kEndDefault, PieceKind::kControl, parts.kinds);
  for (const auto& id :
       {end, ReadId(file, "tokenizer.ggml.eot_token_id", count), ReadId(file, "tokenizer.ggml.eom_token_id", count)}) {
    if (id && std::ranges::find(parts.ends, *id) == parts.ends.end()) parts.ends.push_back(*id);
  }
}

Vocabulary ReadSpmVocabulary(const files::GgufFile& file) {
  VocabularyParts parts;
  parts.pieces = ReadPieces(file);
  parts.scores = ReadScores(file, parts.pieces.size());
  parts.kinds = ReadKinds(file, parts.pieces);
  ReadSpecialIds(file, parts);
  parts.add_begin = file.GetBool("tokenizer.ggml.add_bos_token").value_or(true);
  parts.add_space_prefix = file.GetBool("tokenizer.ggml.add_space_prefix").value_or(true);
  return Vocabulary(std::move(parts));
}

}  // namespace

std::unique_ptr<Tokenizer> LoadTokenizer(const files::GgufFile& file) {
  const std::string_view model = file.RequireString(kModelKey);
  if (model == "llama") return std::make_unique<SpmTokenizer>(ReadSpmVocabulary(file));
  throw file.KeyError(ErrorCode::kUnsupported, kModelKey, fmt::format("tokenizer {}", files::Quote(model)),
                      "supported: 'llama'");
}

}  // namespace ekvi::text
