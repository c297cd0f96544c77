// Tokenizers as the layers above know them: what every kind of vocabulary shares behind the public interface.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/tokenizer.h"
#include "files/gguf.h"
#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {

// Where a token stands in a text that is being written.
struct TextPlace {
  bool start = true;      // at the start of the text, or, for vocabularies of GGUF files, right after a special token
  uint32_t stripped = 0;  // characters taken away at the start of the text
  bool space_pending = false;  // a space is due in front of the next token
};

class Tokenizer : public ekvi::Tokenizer {
 public:
  const Vocabulary& vocabulary() const { return vocabulary_; }

  std::vector<int32_t> Encode(std::string_view text, const EncodeOptions& options = {}) const final;
  std::string Decode(std::span<const int32_t> tokens) const final;
  std::unique_ptr<TextStream> NewTextStream(std::span<const int32_t> before = {}) const final;
  std::string_view Piece(int32_t token) const final;
  bool IsControl(int32_t token) const final;
  std::vector<std::string_view> ControlNames() const final;
  int32_t size() const final { return vocabulary_.size(); }
  std::optional<int32_t> begin_token() const final { return vocabulary_.begin(); }
  std::span<const int32_t> end_tokens() const final { return vocabulary_.ends(); }
  std::string Description() const final;

  // The bytes that the tokens write, before Decode makes valid UTF-8 of them. Same error.
  std::string DecodeBytes(std::span<const int32_t> tokens) const;
  // Appends the bytes that `token` writes at `place`, and moves that on. Same error, nothing changed.
  void AppendBytes(int32_t token, TextPlace& place, std::string& bytes) const;

 protected:
  // `name` is what Description begins with.
  Tokenizer(std::string_view name, Vocabulary vocabulary);

  // Appends the ids of a text, at most 64 MiB of any bytes. Control tokens only where options.special and not
  // options.plain. options.begin is for the caller.
  virtual void EncodeText(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& ids) const = 0;
  // As AppendBytes, for a token of the vocabulary.
  virtual void AppendToken(int32_t token, TextPlace& place, std::string& bytes) const = 0;

 private:
  std::string name_;
  Vocabulary vocabulary_;
};

// The tokenizer of a file: tokenizer.ggml.model "llama", "gpt2", "t5" or "unigram", "gemma4" (also where it is "gpt2"
// and tokenizer.ggml.pre "gemma4"). Copies what it needs, so the file may be closed, and lets go of the file's pages
// that hold it.
// Errors naming the key: kCorrupt where a key is missing, of another type, of another length than tokenizer.ggml.tokens
// or holds an id outside the vocabulary; kUnsupported for another model or pre-tokenizer, over 2^22 pieces, or a piece
// over 4,096 bytes.
std::unique_ptr<Tokenizer> LoadTokenizer(const files::GgufFile& file);

// The tokenizer of a folder that holds tokenizer.json. Also read where they are there: tokenizer_config.json for the
// begin and end tokens and whether the former is put in front, generation_config.json (else config.json) for further
// end tokens. Truncation and padding that tokenizer.json may ask for are never done. Errors: kNotFound without
// tokenizer.json; kCorrupt and kUnsupported naming file and place.
std::unique_ptr<Tokenizer> LoadTokenizerFolder(const std::filesystem::path& folder);

}  // namespace ekvi::text
