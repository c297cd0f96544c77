#include "text/gguf/gguf_vocabulary.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <unordered_map>

#include "files/reader_error.h"
#include "text/vocabulary/piece_table.h"

namespace ekvi::text {
namespace {

constexpr uint64_t kPieceCountMax = uint64_t{1} << 22;
// Bounds the cost of looking at one place of a text; the longest pieces of public models have some hundred bytes.
constexpr size_t kPieceBytesMax = 4096;

// What ends a turn, or hands it to a tool, in public models whose files do not say so by key.
constexpr std::array<std::string_view, 11> kTurnEnds = {
    "<|eot_id|>",      "<|im_end|>", "<|end|>",         "<end_of_turn>",         "<turn|>",   "<|endoftext|>",
    "<|end_of_text|>", "<EOT>",      "<|end_of_turn|>", "<｜end▁of▁sentence｜>", "<|return|>"};
constexpr std::array<std::string_view, 2> kMessageEnds = {"<|eom_id|>", "<|call|>"};

void RequireCount(const files::GgufFile& file, std::string_view key, uint64_t count, uint64_t pieces) {
  if (count == pieces) return;
  throw file.KeyError(ErrorCode::kCorrupt, key, "as many items as pieces are wanted",
                      fmt::format("{} items, {} has {}", files::Digits(count), kGgufTokensKey, files::Digits(pieces)));
}

Pieces ReadPieces(const files::GgufFile& file) {
  const files::GgufStrings strings = file.RequireStrings(kGgufTokensKey);
  if (strings.size() == 0) throw file.KeyError(ErrorCode::kCorrupt, kGgufTokensKey, "no pieces", "0 items");
  if (strings.size() > kPieceCountMax) {
    throw file.KeyError(ErrorCode::kUnsupported, kGgufTokensKey, "too many pieces",
                        fmt::format("{}, at most {}", files::Digits(strings.size()), files::Digits(kPieceCountMax)));
  }
  std::vector<std::string_view> pieces;
  pieces.reserve(strings.size());
  for (const std::string_view piece : strings) {
    if (piece.size() > kPieceBytesMax) {
      throw file.KeyError(
          ErrorCode::kUnsupported, kGgufTokensKey, "a piece is too long",
          fmt::format("piece {} has {} bytes, at most {}", pieces.size(), files::Digits(piece.size()), kPieceBytesMax));
    }
    pieces.push_back(piece);
  }
  return Pieces(pieces);
}

void CheckBytePiece(const files::GgufFile& file, std::string_view piece, size_t id) {
  if (ByteOfPiece(piece)) return;
  throw file.KeyError(ErrorCode::kCorrupt, kGgufTokensKey,
                      fmt::format("byte piece {} is not of the form '<0x0A>'", files::Quote(piece)),
                      fmt::format("piece {} has type 6 (byte) in {}", id, kGgufTypesKey));
}

// Without the key, byte pieces are known by their form and the special ids (below) by their keys.
std::vector<PieceKind> ReadKinds(const files::GgufFile& file, const Pieces& pieces) {
  std::vector<PieceKind> kinds(pieces.size(), PieceKind::kNormal);
  const auto types = file.GetI32s(kGgufTypesKey);
  if (types) RequireCount(file, kGgufTypesKey, types->size(), pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t type = types ? (*types)[i] : ByteOfPiece(pieces[i]) ? 6 : 1;
    if (type < 1 || type > 6) {
      throw file.KeyError(ErrorCode::kCorrupt, kGgufTypesKey, "an unknown piece type",
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

// The id of the key, else the default where a piece of that kind is there.
std::optional<int32_t> IdOr(std::optional<int32_t> id, std::optional<int32_t> fallback, PieceKind kind,
                            const std::vector<PieceKind>& kinds) {
  if (id || !fallback) return id;
  const bool there = static_cast<size_t>(*fallback) < kinds.size() && kinds[*fallback] == kind;
  return there ? fallback : std::nullopt;
}

void AddEnd(std::optional<int32_t> id, VocabularyParts& parts) {
  if (id && std::ranges::find(parts.ends, *id) == parts.ends.end()) parts.ends.push_back(*id);
}

// Without a key, the control tokens that bear one of `names`.
void AddEnds(std::optional<int32_t> id, std::span<const std::string_view> names, VocabularyParts& parts) {
  if (id) return AddEnd(id, parts);
  for (size_t i = 0; i < parts.pieces.size(); ++i) {
    const bool named =
        parts.kinds[i] == PieceKind::kControl && std::ranges::find(names, parts.pieces[i]) != names.end();
    if (named) AddEnd(static_cast<int32_t>(i), parts);
  }
}

void ReadSpecialIds(const files::GgufFile& file, const GgufDefaultIds& defaults, VocabularyParts& parts) {
  const size_t count = parts.pieces.size();
  parts.begin = ReadId(file, "tokenizer.ggml.bos_token_id", count);
  parts.unknown = ReadId(file, "tokenizer.ggml.unknown_token_id", count);
  std::optional<int32_t> end = ReadId(file, "tokenizer.ggml.eos_token_id", count);
  if (file.Find(kGgufTypesKey) == nullptr) {
    if (parts.begin) parts.kinds[*parts.begin] = PieceKind::kControl;
    if (end) parts.kinds[*end] = PieceKind::kControl;
    if (parts.unknown) parts.kinds[*parts.unknown] = PieceKind::kUnknown;
  }
  parts.begin = IdOr(parts.begin, defaults.begin, PieceKind::kControl, parts.kinds);
  parts.unknown = IdOr(parts.unknown, defaults.unknown, PieceKind::kUnknown, parts.kinds);
  end = IdOr(end, defaults.end, PieceKind::kControl, parts.kinds);
  AddEnd(end, parts);
  AddEnds(ReadId(file, "tokenizer.ggml.eot_token_id", count), kTurnEnds, parts);
  AddEnds(ReadId(file, "tokenizer.ggml.eom_token_id", count), kMessageEnds, parts);
}

}  // namespace

VocabularyParts ReadGgufVocabulary(const files::GgufFile& file, const GgufDefaultIds& defaults) {
  VocabularyParts parts;
  parts.pieces = ReadPieces(file);
  parts.kinds = ReadKinds(file, parts.pieces);
  ReadSpecialIds(file, defaults, parts);
  return parts;
}

std::vector<float> ReadGgufScores(const files::GgufFile& file, size_t pieces) {
  const files::GgufItems<float> items = file.RequireF32s(kGgufScoresKey);
  RequireCount(file, kGgufScoresKey, items.size(), pieces);
  std::vector<float> scores(pieces);
  for (size_t i = 0; i < pieces; ++i) {
    scores[i] = items[i];
    if (std::isnan(scores[i])) {
      throw file.KeyError(ErrorCode::kCorrupt, kGgufScoresKey, "a score is not a number",
                          fmt::format("item {} of {}", i, pieces));
    }
  }
  return scores;
}

namespace {

// Ids of texts: those of pieces, and new ones behind them for others.
class MergeIds {
 public:
  // Refuses pieces of which two are the same.
  MergeIds(const files::GgufFile& file, const Pieces& pieces)
      : texts_(pieces, Spelling::kPlain, pieces.size()), pieces_(static_cast<int32_t>(pieces.size())) {
    for (int32_t id = 0; id < pieces_; ++id) {
      const std::string_view piece = pieces[static_cast<size_t>(id)];
      if (const auto twin = texts_.Find(piece)) {
        throw file.KeyError(ErrorCode::kCorrupt, kGgufTokensKey, fmt::format("piece {} twice", files::Quote(piece)),
                            fmt::format("ids {} and {}", *twin, id));
      }
      texts_.Add(id);
    }
  }

  int32_t Of(std::string_view text) {
    if (const auto id = texts_.Find(text)) return *id;
    const auto [place, added] = ids_.try_emplace(std::string(text), pieces_ + static_cast<int32_t>(between.size()));
    if (added) between.emplace_back(text);
    return place->second;
  }

  std::vector<std::string> between;

 private:
  PieceTable texts_;
  int32_t pieces_;
  std::unordered_map<std::string, int32_t> ids_;
};

}  // namespace

GgufMerges ReadGgufMerges(const files::GgufFile& file, const VocabularyParts& parts) {
  const auto strings = file.GetStrings(kGgufMergesKey);
  if (!strings) throw file.KeyError(ErrorCode::kCorrupt, kGgufMergesKey, "missing");
  MergeIds ids(file, parts.pieces);
  GgufMerges read;
  read.merges.reserve(strings->size());
  std::string joined;
  size_t item = 0;
  for (const std::string_view text : *strings) {
    // Pieces hold no blanks, but one may be a blank: the separator is never the first byte.
    const size_t blank = std::min(text.find(' ', 1), text.size());
    const std::string_view left = text.substr(0, blank), right = text.substr(std::min(blank + 1, text.size()));
    if (left.empty() || right.empty()) {
      throw file.KeyError(ErrorCode::kCorrupt, kGgufMergesKey,
                          fmt::format("{} is no pair of pieces", files::Quote(text)),
                          fmt::format("item {} of {}", item, files::Digits(strings->size())));
    }
    joined.assign(left).append(right);
    const int32_t result = ids.Of(joined);
    const BpeMerge merge{ids.Of(left), ids.Of(right), result};
    const auto is_text = [&](int32_t id) {
      if (static_cast<size_t>(id) >= parts.kinds.size()) return true;
      return parts.kinds[id] != PieceKind::kControl && parts.kinds[id] != PieceKind::kUnknown;
    };
    if (is_text(merge.left) && is_text(merge.right) && is_text(merge.result)) read.merges.push_back(merge);
    ++item;
  }
  read.between = std::move(ids.between);
  return read;
}

}  // namespace ekvi::text
