// Which kind of tokenizer a file asks for. Defaults of missing keys are those of llama.cpp for each kind.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "files/reader_error.h"
#include "text/gguf/bpe_tokenizer.h"
#include "text/gguf/gguf_vocabulary.h"
#include "text/gguf/marked_bpe_tokenizer.h"
#include "text/gguf/pre_tokenizer_names.h"
#include "text/gguf/spm_tokenizer.h"
#include "text/gguf/unigram_tokenizer.h"
#include "text/tokenizer.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

bool GetBool(const files::GgufFile& file, std::string_view name, bool fallback) {
  return file.GetBool(fmt::format("tokenizer.ggml.{}", name)).value_or(fallback);
}

std::unique_ptr<Tokenizer> LoadSpm(const files::GgufFile& file) {
  VocabularyParts parts = ReadGgufVocabulary(file, {.begin = 1, .end = 2, .unknown = 0});
  parts.scores = ReadGgufScores(file, parts.pieces.size());
  parts.add_begin = GetBool(file, "add_bos_token", true);
  parts.add_space_prefix = GetBool(file, "add_space_prefix", true);
  return std::make_unique<SpmTokenizer>(Vocabulary(std::move(parts)));
}

NamedPreTokenizer RequirePreTokenizer(const files::GgufFile& file) {
  const std::string_view name = file.RequireString(kGgufPreKey);
  NamedPreTokenizer named = FindPreTokenizer(name);
  if (named.splitter != nullptr) return named;
  throw file.KeyError(ErrorCode::kUnsupported, kGgufPreKey, fmt::format("pre-tokenizer {}", files::Quote(name)),
                      fmt::format("known: {}", fmt::join(PreTokenizerNames(), ", ")),
                      "load the model's Hugging Face folder, whose tokenizer.json has the rule itself");
}

// The tokens that text may become. Pieces with characters outside of the alphabet are never made of text.
PieceTable TextsOf(const VocabularyParts& parts) {
  PieceTable texts(parts.pieces, Spelling::kByteAlphabet, parts.pieces.size());
  for (size_t i = 0; i < parts.pieces.size(); ++i) {
    if (parts.kinds[i] == PieceKind::kNormal) texts.Add(static_cast<int32_t>(i));
  }
  return texts;
}

std::unique_ptr<Tokenizer> LoadBpe(const files::GgufFile& file) {
  NamedPreTokenizer named = RequirePreTokenizer(file);
  VocabularyParts parts = ReadGgufVocabulary(file, {});
  GgufMerges read = ReadGgufMerges(file, parts);
  for (std::string& text : read.between) text = BytesOfPiece(text).value_or(text);
  parts.add_begin = GetBool(file, "add_bos_token", named.add_begin);
  BpeOptions options{.bytes = true, .ignore_merges = named.ignore_merges, .unknown = parts.unknown};
  options.between = std::move(read.between);
  auto model = std::make_unique<BpeModel>(std::move(options), TextsOf(parts), read.merges, kNoByteTokens,
                                          static_cast<int32_t>(parts.pieces.size()));
  const std::string name = fmt::format("byte-level BPE, {}", file.RequireString(kGgufPreKey));
  return std::make_unique<BpeTokenizer>(name, Vocabulary(std::move(parts)), std::move(named.splitter),
                                        std::move(model));
}

// Gemma 4: byte-pair encoding of characters.
std::unique_ptr<Tokenizer> LoadMarkedBpe(const files::GgufFile& file) {
  VocabularyParts parts = ReadGgufVocabulary(file, {});
  const GgufMerges read = ReadGgufMerges(file, parts);
  if (!read.between.empty()) {
    throw file.KeyError(ErrorCode::kCorrupt, kGgufMergesKey,
                        fmt::format("{} is no piece", files::Quote(read.between.front())),
                        fmt::format("{} such texts", files::Digits(read.between.size())));
  }
  parts.add_begin = GetBool(file, "add_bos_token", false);
  parts.add_space_prefix = GetBool(file, "add_space_prefix", false);
  PieceTable texts(parts.pieces, Spelling::kPlain, parts.pieces.size());
  for (size_t i = 0; i < parts.pieces.size(); ++i) {
    const bool text = parts.kinds[i] == PieceKind::kNormal || parts.kinds[i] == PieceKind::kUserDefined;
    if (text) texts.Add(static_cast<int32_t>(i));
  }
  Vocabulary vocabulary(std::move(parts));
  BpeOptions options{.byte_fallback = true, .fuse_unknown = true, .unknown = vocabulary.unknown()};
  auto model = std::make_unique<BpeModel>(std::move(options), std::move(texts), read.merges, vocabulary.byte_tokens(),
                                          vocabulary.size());
  return std::make_unique<MarkedBpeTokenizer>("BPE, gemma4", std::move(vocabulary), std::move(model));
}

std::optional<Charsmap> ReadCharsmap(const files::GgufFile& file) {
  constexpr std::string_view kKey = "tokenizer.ggml.precompiled_charsmap";
  const files::GgufValue* const value = file.Find(kKey);
  if (value == nullptr) return std::nullopt;
  const bool bytes = value->type == files::GgufType::kArray &&
                     (value->item_type == files::GgufType::kU8 || value->item_type == files::GgufType::kI8);
  if (!bytes) throw file.KeyError(ErrorCode::kCorrupt, kKey, value->TypeText() + " where an array of u8 is wanted");
  if (value->payload.empty()) return std::nullopt;
  try {
    return Charsmap({reinterpret_cast<const char*>(value->payload.data()), value->payload.size()});
  } catch (const Error& error) {
    throw file.KeyError(error.code(), kKey, error.summary(), error.numbers());
  }
}

std::unique_ptr<Tokenizer> LoadUnigram(const files::GgufFile& file) {
  VocabularyParts parts = ReadGgufVocabulary(file, {.end = 1, .unknown = 2});
  parts.scores = ReadGgufScores(file, parts.pieces.size());
  parts.add_begin = GetBool(file, "add_bos_token", false);
  parts.add_space_prefix = GetBool(file, "add_space_prefix", false);
  if (GetBool(file, "treat_whitespace_as_suffix", false)) {
    throw file.KeyError(ErrorCode::kUnsupported, "tokenizer.ggml.treat_whitespace_as_suffix", "spaces behind words");
  }
  UnigramSpaces spaces = UnigramSpaces::kAll;
  if (GetBool(file, "remove_extra_whitespaces", false)) spaces = UnigramSpaces::kOneBetweenWords;
  return std::make_unique<UnigramTokenizer>(Vocabulary(std::move(parts)), ReadCharsmap(file), spaces);
}

// The tables have been copied, and nobody reads them again: their pages need not stay.
class LetGoOfTables {
 public:
  explicit LetGoOfTables(const files::GgufFile& file) : file_(file) {}
  LetGoOfTables(const LetGoOfTables&) = delete;
  LetGoOfTables& operator=(const LetGoOfTables&) = delete;
  ~LetGoOfTables() {
    for (const std::string_view key : {kGgufTokensKey, kGgufMergesKey, kGgufScoresKey, kGgufTypesKey}) {
      if (const files::GgufValue* const value = file_.Find(key)) file_.mapped().Release(value->payload);
    }
  }

 private:
  const files::GgufFile& file_;
};

}  // namespace

std::unique_ptr<Tokenizer> LoadTokenizer(const files::GgufFile& file) {
  const LetGoOfTables let_go(file);
  const std::string_view model = file.RequireString(kGgufModelKey);
  if (model == "llama") return LoadSpm(file);
  const bool gemma4 = model == "gemma4" || (model == "gpt2" && file.GetString(kGgufPreKey) == "gemma4");
  if (gemma4) return LoadMarkedBpe(file);
  if (model == "gpt2") return LoadBpe(file);
  if (model == "t5" || model == "unigram") return LoadUnigram(file);
  throw file.KeyError(ErrorCode::kUnsupported, kGgufModelKey, fmt::format("tokenizer {}", files::Quote(model)),
                      "supported: 'llama', 'gpt2', 't5', 'gemma4'");
}

}  // namespace ekvi::text
