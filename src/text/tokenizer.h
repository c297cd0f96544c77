// Between text and tokens. One interface for every kind of vocabulary; LoadTokenizer makes the one a GGUF file asks
// for.
//
// Plain text never becomes a control token: what a user wrote and what a template wrote stay distinguishable. Read-only
// and safe to share between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/model.h"
#include "files/gguf.h"
#include "text/tokenizer_specials.h"
#include "text/tokenizer_vocabulary.h"

namespace ekvi::text {

// Where a piece of text stands: at the start of a text or right after a special token, or inside.
enum class TextPlace { kStart, kInside };

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const Vocabulary& vocabulary() const { return vocabulary_; }
  // "llama (512 pieces)".
  std::string Description() const;

  // The ids of `text`, which may be any bytes. User-defined tokens are found in it first; with options.special the
  // names of control tokens and of the unknown token are too, longest first. Errors: kCapacity for a text over 64 MiB;
  // kUnsupported where the vocabulary cannot write a character of it.
  std::vector<int32_t> Encode(std::string_view text, const EncodeOptions& options = {}) const;

  // The bytes that the tokens write. Encode's inverse wherever the vocabulary can write the text, but that U+2581 in a
  // text comes back as a space in vocabularies that mark spaces with it. Error(kInvalidArgument) with index, id and
  // vocabulary size for an id outside the vocabulary.
  std::string DecodeBytes(std::span<const int32_t> tokens) const;
  // The same as valid UTF-8: U+FFFD where the bytes are no character (Utf8Stream).
  std::string Decode(std::span<const int32_t> tokens) const;

  // Appends the bytes that `token` writes at `place`; gives the place after it. Same error.
  TextPlace AppendBytes(int32_t token, TextPlace place, std::string& bytes) const;

 protected:
  Tokenizer(std::string_view name, Vocabulary vocabulary);

  // Text without special tokens, not empty; `name` says which for errors.
  virtual void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const = 0;
  // The bytes that a piece of text writes; of a byte piece, `piece` is that byte.
  virtual void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const = 0;

 private:
  std::string name_;
  Vocabulary vocabulary_;
  TokenizerSpecials always_, on_request_;
};

// The tokenizer of a file: tokenizer.ggml.model "llama". Copies what it needs, so the file may be closed.
// Errors naming the key: kCorrupt where a key is missing, of another type, of another length than tokenizer.ggml.tokens
// or holds an id outside the vocabulary; kUnsupported for another model, over 2^22 pieces, or a piece over 4,096 bytes.
std::unique_ptr<Tokenizer> LoadTokenizer(const files::GgufFile& file);

}  // namespace ekvi::text
