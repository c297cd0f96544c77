#include <fmt/core.h>

#include <algorithm>

#include "files/reader_error.h"
#include "text/hf/hf_model.h"

namespace ekvi::text {
namespace {

constexpr uint64_t kIdMax = (uint64_t{1} << 22) - 1;
constexpr size_t kHolesMax = 65536;
constexpr size_t kPieceBytesMax = 4096;  // as for GGUF files

struct Entry {
  std::string_view piece;
  int32_t id;
};

void CheckPiece(const JsonValue& place, std::string_view piece) {
  if (piece.size() <= kPieceBytesMax) return;
  throw place.Fault(ErrorCode::kUnsupported, "a piece is too long",
                    fmt::format("{} bytes, at most {}", files::Digits(piece.size()), files::Digits(kPieceBytesMax)));
}

int32_t ReadId(const JsonValue& vocabulary, simdjson::dom::element element, std::string_view piece) {
  uint64_t id = kIdMax + 1;
  if (!element.get(id) && id <= kIdMax) return static_cast<int32_t>(id);
  return static_cast<int32_t>(vocabulary.Member(element, files::Quote(piece)).Uint(kIdMax));
}

std::vector<Entry> ReadModelEntries(const JsonValue& vocabulary) {
  std::vector<Entry> entries;
  if (vocabulary.is_array()) {
    for (const auto element : vocabulary.Array()) {
      const JsonValue item = vocabulary.Item(element, entries.size());
      const auto pair = item.Array();
      if (pair.size() != 2) {
        throw item.Fault(ErrorCode::kCorrupt, "a piece and a score are wanted", fmt::format("{} items", pair.size()));
      }
      const std::string_view piece = item.Item(pair.at(0), 0).String();
      CheckPiece(item, piece);
      entries.push_back({piece, static_cast<int32_t>(entries.size())});
    }
    return entries;
  }
  for (const auto& member : vocabulary.Object()) {
    CheckPiece(vocabulary, member.key);
    entries.push_back({member.key, ReadId(vocabulary, member.value, member.key)});
  }
  return entries;
}

AddedToken ReadAddedToken(const JsonValue& token) {
  AddedToken added;
  const JsonValue content = token.Require("content");
  added.content = content.String();
  CheckPiece(content, added.content);
  added.id = static_cast<int32_t>(token.Require("id").Uint(kIdMax));
  added.special = token.Bool("special", false);
  added.single_word = token.Bool("single_word", false);
  added.lstrip = token.Bool("lstrip", false);
  added.rstrip = token.Bool("rstrip", false);
  added.normalized = token.Bool("normalized", !added.special);
  return added;
}

class Reader {
 public:
  explicit Reader(const JsonValue& root) : root_(root) {}

  HfVocabulary Read() {
    const JsonValue vocabulary = root_.Require("model").Require("vocab");
    const std::vector<Entry> entries = ReadModelEntries(vocabulary);
    ReadAdded();
    Reserve(vocabulary, entries);
    for (const Entry& entry : entries) Place(vocabulary, entry, PieceKind::kNormal);
    PlaceAdded();
    return std::move(made_);
  }

 private:
  void ReadAdded() {
    const auto added = root_.Get("added_tokens");
    if (!added) return;
    for (const auto element : added->Array()) {
      made_.added.push_back(ReadAddedToken(added->Item(element, made_.added.size())));
    }
  }

  void Reserve(const JsonValue& vocabulary, const std::vector<Entry>& entries) {
    const size_t count = entries.size() + made_.added.size();
    size_t size = 0, model_size = 0;
    for (const Entry& entry : entries) model_size = std::max(model_size, static_cast<size_t>(entry.id) + 1);
    size = model_size;
    for (const AddedToken& token : made_.added) size = std::max(size, static_cast<size_t>(token.id) + 1);
    if (size == 0) throw vocabulary.Fault(ErrorCode::kCorrupt, "no tokens", "0 entries");
    if (size > count + kHolesMax || size > kIdMax + 1) {
      throw vocabulary.Fault(
          ErrorCode::kUnsupported, "ids are scattered, or too many",
          fmt::format("{} tokens, the highest id is {}", files::Digits(count), files::Digits(size - 1)));
    }
    made_.tokens.model_size = static_cast<int32_t>(model_size);
    made_.tokens.pieces.resize(size);
    made_.tokens.kinds.assign(size, PieceKind::kUnused);
    made_.tokens.index = PieceIndex(count);
  }

  void Place(const JsonValue& place, const Entry& entry, PieceKind kind) {
    HfTokens& tokens = made_.tokens;
    if (tokens.kinds[entry.id] != PieceKind::kUnused) {
      throw place.Fault(ErrorCode::kCorrupt, fmt::format("id {} twice", entry.id),
                        fmt::format("{} and {}", files::Quote(tokens.pieces[entry.id]), files::Quote(entry.piece)));
    }
    if (const auto twin = tokens.Find(entry.piece)) {
      throw place.Fault(ErrorCode::kCorrupt, fmt::format("{} twice", files::Quote(entry.piece)),
                        fmt::format("ids {} and {}", *twin, entry.id));
    }
    tokens.pieces[entry.id] = entry.piece;
    tokens.kinds[entry.id] = kind;
    tokens.index.Set(entry.piece, entry.id, [](int32_t) { return false; });
  }

  // Those that the model has too keep its id, which must be the same.
  void PlaceAdded() {
    const auto added = root_.Get("added_tokens");
    if (!added) return;
    size_t index = 0;
    for (const auto element : added->Array()) {
      const JsonValue item = added->Item(element, index);
      const AddedToken& token = made_.added[index++];
      const PieceKind kind = token.special ? PieceKind::kControl : PieceKind::kUserDefined;
      const auto known = made_.tokens.Find(token.content);
      if (!known || *known != token.id) {
        // The content of the document, which outlives what is made of it.
        Place(item, {item.Require("content").String(), token.id}, kind);
      }
      made_.tokens.kinds[token.id] = kind;
    }
  }

  const JsonValue& root_;
  HfVocabulary made_;
};

}  // namespace

HfVocabulary ReadHfVocabulary(const JsonValue& root) { return Reader(root).Read(); }

}  // namespace ekvi::text
