#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "base/mapped_file.h"
#include "files/reader_error.h"
#include "text/hf/hf_model.h"
#include "text/hf/hf_parts.h"
#include "text/hf/hf_tokenizer.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

// What the files beside tokenizer.json say.
struct Configs {
  std::optional<JsonDocument> tokenizer, generation;
};

std::optional<JsonDocument> ReadIfThere(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const base::MappedFile file(path);
  const auto bytes = file.bytes();
  return std::optional<JsonDocument>(
      std::in_place, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path.string());
}

void AddEnd(int32_t id, VocabularyParts& parts) {
  if (std::ranges::find(parts.ends, id) == parts.ends.end()) parts.ends.push_back(id);
}

// "bos_token": a name, or an object whose "content" is one. Names that the vocabulary lacks say nothing.
std::optional<int32_t> ReadNamed(const JsonValue& config, std::string_view key, const HfTokens& tokens) {
  const auto named = config.Get(key);
  if (!named) return std::nullopt;
  const std::string_view name = named->is_object() ? named->Require("content").String() : named->String();
  const auto piece = std::ranges::find(tokens.pieces, name);  // the index may lack pieces that text cannot become
  if (name.empty() || piece == tokens.pieces.end()) return std::nullopt;
  return static_cast<int32_t>(piece - tokens.pieces.begin());
}

void ReadTokenizerConfig(const JsonValue& config, const HfTokens& tokens, VocabularyParts& parts) {
  parts.begin = ReadNamed(config, "bos_token", tokens);
  if (const auto end = ReadNamed(config, "eos_token", tokens)) AddEnd(*end, parts);
  const auto add = config.Get("add_bos_token");
  if (!add) return;
  const bool wanted = add->Bool();
  if (wanted && !parts.begin) {
    throw add->Fault(ErrorCode::kCorrupt, "a begin token is wanted and none is there",
                     "'bos_token' names no token of tokenizer.json");
  }
  if (!wanted) parts.prefix.clear();
  if (wanted && parts.prefix.empty()) parts.prefix = {*parts.begin};
}

void AddEndId(const JsonValue& id, VocabularyParts& parts) {
  const uint64_t number = id.Uint(INT32_MAX);
  if (number >= parts.pieces.size()) {
    throw id.Fault(ErrorCode::kCorrupt, "outside the vocabulary",
                   fmt::format("id {}, the vocabulary has {} pieces", number, files::Digits(parts.pieces.size())));
  }
  AddEnd(static_cast<int32_t>(number), parts);
}

// "eos_token_id": an id, or several.
void ReadEnds(const JsonValue& config, VocabularyParts& parts) {
  const auto ends = config.Get("eos_token_id");
  if (!ends) return;
  if (!ends->is_array()) return AddEndId(*ends, parts);
  size_t index = 0;
  for (const auto id : ends->Array()) AddEndId(ends->Item(id, index++), parts);
}

VocabularyParts ReadSpecials(const JsonValue& root, const Pieces& pieces, const HfTokens& tokens,
                             const Configs& configs) {
  VocabularyParts parts;
  parts.pieces = pieces;
  parts.kinds = tokens.kinds;
  for (size_t id = 0; id < tokens.kinds.size(); ++id) {
    if (tokens.kinds[id] == PieceKind::kUnknown) parts.unknown = static_cast<int32_t>(id);
  }
  if (const auto processor = root.Get("post_processor")) {
    parts.prefix = ReadHfPrefix(*processor, static_cast<int32_t>(tokens.pieces.size()));
    if (!parts.prefix.empty()) parts.begin = parts.prefix.front();
  }
  if (configs.tokenizer) ReadTokenizerConfig(configs.tokenizer->root(), tokens, parts);
  if (!parts.begin && !parts.prefix.empty()) parts.begin = parts.prefix.front();
  if (configs.generation) ReadEnds(configs.generation->root(), parts);
  return parts;
}

// Names that are looked for in normalized text are normalized themselves, and written so.
void SortAdded(std::vector<AddedToken> added, HfTokenizerParts& parts) {
  std::vector<AddedToken> raw, normalized;
  for (AddedToken& token : added) {
    if (token.normalized && parts.normalizer != nullptr) {
      parts.normalizer->Apply(token.content);
      parts.written[token.id] = token.content;
    }
    (token.normalized ? normalized : raw).push_back(std::move(token));
  }
  parts.raw = AddedTokens(std::move(raw));
  parts.normalized = AddedTokens(std::move(normalized));
}

bool SpellsBytes(const Normalizer* normalizer) {
  std::string text = "\x01";
  if (normalizer != nullptr) normalizer->Apply(text);
  return text == CharacterOfByte(1);
}

std::string_view ModelName(const JsonValue& model, HfUnits units) {
  if (units == HfUnits::kBytes) return "byte-level BPE";
  const auto type = model.Get("type");
  return type ? type->String() : "BPE";
}

std::unique_ptr<Tokenizer> Make(const JsonDocument& document, const Configs& configs) {
  const JsonValue root = document.root();
  if (const auto version = root.Get("version"); version && version->String() != "1.0") {
    throw version->Fault(ErrorCode::kUnsupported, fmt::format("version {}", files::Quote(version->String())),
                         "supported: '1.0'");
  }
  HfTokenizerParts parts;
  if (const auto normalizer = root.Get("normalizer")) parts.normalizer = ReadHfNormalizer(*normalizer);
  HfPreTokenizers cutters;
  if (const auto cutter = root.Get("pre_tokenizer")) cutters = ReadHfPreTokenizers(*cutter);
  const JsonValue model = root.Require("model");
  const HfUnits units = cutters.bytes_last ? ByteLevelUnits(model) : HfUnits::kCharacters;
  if (cutters.bytes_last && units == HfUnits::kCharacters) cutters.row.push_back(std::make_unique<ByteSpeller>());
  parts.spells_bytes = cutters.spells_bytes || (cutters.bytes_last && units == HfUnits::kCharacters) ||
                       SpellsBytes(parts.normalizer.get());
  parts.splitter = std::make_unique<PreTokenizerRow>(std::move(cutters.row));

  HfVocabulary vocabulary = ReadHfVocabulary(root);
  const Pieces pieces(vocabulary.tokens.pieces);
  parts.model = ReadHfModel(model, units, pieces, vocabulary.tokens);
  if (const auto decoder = root.Get("decoder")) {
    parts.decoder = ReadHfDecoder(*decoder);
  } else {
    parts.decoder.push_back(std::make_unique<SpacesBetween>());
  }
  SortAdded(std::move(vocabulary.added), parts);
  const std::string name = fmt::format("{} of tokenizer.json", ModelName(model, units));
  return std::make_unique<HfTokenizer>(name, Vocabulary(ReadSpecials(root, pieces, vocabulary.tokens, configs)),
                                       std::move(parts));
}

}  // namespace

std::unique_ptr<Tokenizer> LoadTokenizerFolder(const std::filesystem::path& folder) {
  const auto document = ReadIfThere(folder / "tokenizer.json");
  if (!document) {
    throw Error(ErrorCode::kNotFound, fmt::format("{}: no tokenizer.json", folder.string()),
                "the folder has no tokenizer", "convert the model's tokenizer to tokenizer.json, or use token ids");
  }
  Configs configs;
  configs.tokenizer = ReadIfThere(folder / "tokenizer_config.json");
  configs.generation = ReadIfThere(folder / "generation_config.json");
  if (!configs.generation) configs.generation = ReadIfThere(folder / "config.json");
  return Make(*document, configs);
}

std::unique_ptr<Tokenizer> LoadTokenizerJson(std::string_view json, std::string name) {
  return Make(JsonDocument(json, std::move(name)), {});
}

}  // namespace ekvi::text
