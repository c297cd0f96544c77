// Between text and tokens: the vocabulary of a model, with or without its weights.
//
//   const auto tokenizer = ekvi::Tokenizer::Load("model.gguf");
//   const std::vector<int32_t> ids = tokenizer->Encode("Once upon a time");
//   std::cout << tokenizer->Decode(ids);
//
// Plain text never becomes a control token unless the caller asks for it: what a user wrote and what a template wrote
// stay distinguishable. Read-only once loaded and safe to share between threads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi {

struct EncodeOptions {
  bool begin = true;     // put the begin token in front where the model has one and asks for it
  bool special = false;  // names of control tokens in the text become those tokens
  // With `special`: parts of the text that others wrote (what messages say, in what a template made of them), in order,
  // none overlapping. A name that reaches into one stays text.
  std::span<const std::string_view> plain = {};
};

// Turns tokens into text piece by piece: a character whose bytes are spread over tokens comes out whole, or as U+FFFD
// once it cannot be completed.
class TextStream {
 public:
  virtual ~TextStream() = default;
  // The text that `token` completes; may be empty. Control tokens give no text. kInvalidArgument outside the
  // vocabulary, the stream unchanged.
  virtual std::string Push(int32_t token) = 0;
  // What is left at the end: U+FFFD for a character never completed, else nothing.
  virtual std::string Finish() = 0;
};

class Tokenizer {
 public:
  // A GGUF file, with or without weights; a tokenizer.json; or a folder with one, whose tokenizer_config.json and
  // generation_config.json are read too. Told apart by content. Errors: kNotFound, kIo; kCorrupt naming file, place and
  // numbers; kUnsupported naming what is not understood, in particular a pre-tokenizer: none is guessed.
  static std::shared_ptr<const Tokenizer> Load(const std::filesystem::path& path);

  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The ids of `text`, which may be any bytes. Tokens that the vocabulary wants found in any text are; those that
  // control the model only with options.special. n log n time. kCapacity for a text over 64 MiB; kUnsupported where
  // the vocabulary cannot write a character of it.
  virtual std::vector<int32_t> Encode(std::string_view text, const EncodeOptions& options = {}) const = 0;

  // The text of tokens, valid UTF-8: U+FFFD where their bytes are no character. The inverse of Encode wherever the
  // vocabulary can write the text and does not normalise it. kInvalidArgument with index, id and vocabulary size for
  // an id outside the vocabulary.
  virtual std::string Decode(std::span<const int32_t> tokens) const = 0;

  // A stream at the start of a text, or, with `before`, one that continues the text of these tokens. The tokenizer must
  // outlive it. What all calls return together is Decode of all tokens.
  virtual std::unique_ptr<TextStream> NewTextStream(std::span<const int32_t> before = {}) const = 0;

  // The piece of a token as the vocabulary writes it, e.g. "▁Once", "Ġtime" or "<0x0A>". kInvalidArgument outside the
  // vocabulary.
  virtual std::string_view Piece(int32_t token) const = 0;
  // Whether the token is no text: begin, end, turns.
  virtual bool IsControl(int32_t token) const = 0;
  // The names that Encode takes for tokens with options.special only. Views of the vocabulary; time of its size.
  virtual std::vector<std::string_view> ControlNames() const = 0;
  // The number of ids, which are 0 to size() - 1.
  virtual int32_t size() const = 0;

  // What Encode puts in front of a text where the model asks for it; and what ends a text or a turn.
  virtual std::optional<int32_t> begin_token() const = 0;
  virtual std::span<const int32_t> end_tokens() const = 0;

  // For people: "byte-level BPE, qwen2 (151,936 pieces)".
  virtual std::string Description() const = 0;

 protected:
  Tokenizer() = default;
};

}  // namespace ekvi
