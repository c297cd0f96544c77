#include "text/hf/hf_model.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "files/reader_error.h"
#include "text/model/bpe_model.h"
#include "text/model/unigram_model.h"
#include "text/model/word_models.h"
#include "text/unicode/byte_alphabet.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

// Files before 2020's version 0.9 do not name the type.
std::string_view TypeOf(const JsonValue& model) {
  if (const auto type = model.Get("type")) return type->String();
  if (model.Get("merges")) return "BPE";
  if (model.Require("vocab").is_array()) return "Unigram";
  return model.Get("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
}

std::string Text(const JsonValue& model, std::string_view key) {
  const auto value = model.Get(key);
  return value ? std::string(value->String()) : "";
}

class Reader {
 public:
  Reader(const JsonValue& model, HfUnits units, const Pieces& pieces, HfTokens& tokens)
      : model_(model), units_(units), pieces_(pieces), tokens_(tokens) {}

  std::unique_ptr<const SubwordModel> Read() {
    const std::string_view type = TypeOf(model_);
    if (type == "BPE") return ReadBpe();
    if (type == "Unigram") return ReadUnigram();
    if (type == "WordPiece") return ReadWordPiece();
    if (type == "WordLevel") {
      return std::make_unique<WordLevelModel>(ReadUnknown("unk_token"), Texts());
    }
    throw model_.Fault(ErrorCode::kUnsupported, fmt::format("model {}", files::Quote(type)));
  }

 private:
  // The text that a token of the model writes; nothing where it cannot.
  std::optional<std::string> TextOf(int32_t id) const {
    if (units_ == HfUnits::kBytes) return BytesOfPiece(tokens_.pieces[id]);
    return std::string(tokens_.pieces[id]);
  }

  bool IsSingle(std::string_view text) const {
    return text.size() == 1 || (units_ == HfUnits::kCharacters && FirstCharacter(text).bytes == text.size());
  }

  // Whether text may become the token, which writes `text`.
  bool IsReachable(int32_t id, std::string_view text) const {
    switch (tokens_.kinds[id]) {
      case PieceKind::kControl:
      case PieceKind::kUnknown:
        return IsSingle(text);
      case PieceKind::kByte:
      case PieceKind::kUnused:
        return false;
      default:
        return true;
    }
  }

  PieceTable Texts() const {
    PieceTable texts(pieces_, units_ == HfUnits::kBytes ? Spelling::kByteAlphabet : Spelling::kPlain,
                     static_cast<size_t>(tokens_.model_size));
    for (int32_t id = 0; id < tokens_.model_size; ++id) {
      const auto text = TextOf(id);
      if (text && !text->empty() && IsReachable(id, *text)) texts.Add(id);
    }
    return texts;
  }

  // The same by their pieces' beginnings.
  PieceTrie Trie() const {
    PieceTrie texts;
    for (int32_t id = 0; id < tokens_.model_size; ++id) {
      const std::string_view piece = tokens_.pieces[id];
      if (!piece.empty() && IsReachable(id, piece)) texts.Add(piece, id);
    }
    return texts;
  }

  std::optional<int32_t> ReadUnknown(std::string_view key) {
    const auto name = model_.Get(key);
    if (!name) return std::nullopt;
    const auto id = tokens_.Find(name->String());
    if (!id) {
      throw name->Fault(ErrorCode::kCorrupt, fmt::format("{} is not in the vocabulary", files::Quote(name->String())),
                        fmt::format("{} tokens", files::Digits(tokens_.pieces.size())));
    }
    tokens_.kinds[*id] = PieceKind::kUnknown;
    return id;
  }

  void ReadByteTokens() {
    if (!model_.Bool("byte_fallback", false)) return;
    for (int32_t id = 0; id < tokens_.model_size; ++id) {
      const auto byte = ByteOfPiece(tokens_.pieces[id]);
      if (!byte || tokens_.pieces[id] != fmt::format("<0x{:02X}>", *byte)) continue;
      byte_tokens_[*byte] = id;
      tokens_.kinds[id] = PieceKind::kByte;
    }
  }

  std::unique_ptr<const SubwordModel> ReadBpe() {
    if (const auto dropout = model_.Get("dropout"); dropout && dropout->Number() != 0) {
      throw dropout->Fault(ErrorCode::kUnsupported, "merges left out at random", fmt::format("{}", dropout->Number()));
    }
    ReadByteTokens();
    BpeOptions options{.bytes = units_ == HfUnits::kBytes,
                       .ignore_merges = model_.Bool("ignore_merges", false),
                       .byte_fallback = model_.Bool("byte_fallback", false),
                       .fuse_unknown = model_.Bool("fuse_unk", false),
                       .unknown = ReadUnknown("unk_token"),
                       .word_prefix = Text(model_, "continuing_subword_prefix"),
                       .word_suffix = Text(model_, "end_of_word_suffix")};
    const std::vector<BpeMerge> merges = ReadMerges(options.word_prefix.size());
    return std::make_unique<BpeModel>(std::move(options), Texts(), merges, byte_tokens_,
                                      static_cast<int32_t>(tokens_.pieces.size()));
  }

  std::vector<BpeMerge> ReadMerges(size_t prefix_bytes) const {
    const JsonValue list = model_.Require("merges");
    std::vector<BpeMerge> merges;
    std::string joined;
    size_t index = 0;
    for (const auto element : list.Array()) {
      const auto [left, right] = ReadPair(list, element, index);
      joined.assign(left).append(right.substr(std::min(prefix_bytes, right.size())));
      const auto left_id = tokens_.Find(left), right_id = tokens_.Find(right), result = tokens_.Find(joined);
      if (!left_id || !right_id || !result) {
        const std::string_view missing = !left_id ? left : !right_id ? right : std::string_view(joined);
        throw list.Item(element, index)
            .Fault(ErrorCode::kCorrupt, fmt::format("{} is not in the vocabulary", files::Quote(missing)),
                   fmt::format("{} tokens", files::Digits(tokens_.pieces.size())));
      }
      const auto text = TextOf(*result);
      if (text && IsReachable(*result, *text)) merges.push_back({*left_id, *right_id, *result});
      ++index;
    }
    return merges;
  }

  // "left right" or ["left", "right"].
  static std::pair<std::string_view, std::string_view> ReadPair(const JsonValue& list, simdjson::dom::element element,
                                                                size_t index) {
    std::string_view text, right;
    if (!element.get(text)) {
      const size_t blank = text.find(' ');
      const bool pair = blank != std::string_view::npos && text.find(' ', blank + 1) == std::string_view::npos;
      if (pair) return {text.substr(0, blank), text.substr(blank + 1)};
    } else if (simdjson::dom::array pair; !element.get(pair) && pair.size() == 2) {
      if (!pair.at(0).get(text) && !pair.at(1).get(right)) return {text, right};
    }
    throw list.Item(element, index).Fault(ErrorCode::kCorrupt, "no pair of pieces");
  }

  std::unique_ptr<const SubwordModel> ReadUnigram() {
    ReadByteTokens();
    UnigramOptions options{.byte_fallback = model_.Bool("byte_fallback", false)};
    if (const auto unknown = model_.Get("unk_id")) {
      const uint64_t id = unknown->Uint(INT32_MAX);
      if (id >= static_cast<uint64_t>(tokens_.model_size)) {
        throw unknown->Fault(ErrorCode::kCorrupt, "outside the vocabulary",
                             fmt::format("id {}, the vocabulary has {} pieces", id, tokens_.model_size));
      }
      options.unknown = static_cast<int32_t>(id);
      tokens_.kinds[id] = PieceKind::kUnknown;
    }
    const JsonValue vocabulary = model_.Require("vocab");
    std::vector<double> scores;
    double least = std::numeric_limits<double>::infinity();
    for (const auto element : vocabulary.Array()) {
      const JsonValue item = vocabulary.Item(element, scores.size());
      scores.push_back(item.Item(item.Array().at(1), 1).Number());
      least = std::min(least, scores.back());
    }
    constexpr double kUnknownPenalty = 10;  // SentencePiece's, unigram_model.cc
    options.unknown_score = least - kUnknownPenalty;
    return std::make_unique<UnigramModel>(options, Trie(), std::move(scores), byte_tokens_);
  }

  std::unique_ptr<const SubwordModel> ReadWordPiece() {
    WordPieceOptions options;
    const auto unknown = ReadUnknown("unk_token");
    if (!unknown) throw model_.Fault(ErrorCode::kCorrupt, "key 'unk_token' missing");
    options.unknown = *unknown;
    if (const auto prefix = model_.Get("continuing_subword_prefix")) options.inner_prefix = prefix->String();
    if (const auto most = model_.Get("max_input_chars_per_word")) options.characters_max = most->Uint(UINT32_MAX);
    return std::make_unique<WordPieceModel>(std::move(options), Trie());
  }

  const JsonValue& model_;
  HfUnits units_;
  const Pieces& pieces_;
  HfTokens& tokens_;
  ByteTokens byte_tokens_ = kNoByteTokens;
};

}  // namespace

HfUnits ByteLevelUnits(const JsonValue& model) {
  const bool affixed = !Text(model, "continuing_subword_prefix").empty() || !Text(model, "end_of_word_suffix").empty();
  return TypeOf(model) == "BPE" && !affixed ? HfUnits::kBytes : HfUnits::kCharacters;
}

std::unique_ptr<const SubwordModel> ReadHfModel(const JsonValue& model, HfUnits units, const Pieces& pieces,
                                                HfTokens& tokens) {
  return Reader(model, units, pieces, tokens).Read();
}

}  // namespace ekvi::text
