// From a token's piece to the text that it writes, step by step. Names and rules are those of the decoders of Hugging
// Face tokenizers, but that bytes are put together over all tokens: text never depends on where a stream is cut.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace ekvi::text {

// Read-only and safe to share between threads.
class DecodeStep {
 public:
  virtual ~DecodeStep() = default;
  // Changes a token's text. place.start where it is the first of the text.
  virtual void Apply(std::string& text, TextPlace& place) const = 0;
};

// Each match of a pattern to `content`.
class ReplaceStep : public DecodeStep {
 public:
  ReplaceStep(std::unique_ptr<const CutPattern> pattern, std::string content);
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::unique_ptr<const CutPattern> pattern_;
  std::string content_;
};

// "<0x0A>" to that byte.
class ByteFallbackStep : public DecodeStep {
 public:
  void Apply(std::string& text, TextPlace& place) const override;
};

// Characters of the byte alphabet to bytes, unless one is none of it.
class ByteLevelStep : public DecodeStep {
 public:
  void Apply(std::string& text, TextPlace& place) const override;
};

// Marks to spaces; in the first token, where a mark was put in front, away with them.
class MetaspaceStep : public DecodeStep {
 public:
  enum class First { kDropsMarks, kKeepsMarks };
  MetaspaceStep(std::string mark, First first) : mark_(std::move(mark)), first_(first) {}
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::string mark_;
  First first_;
};

// Takes `content`, a character, up to `start` times from the front and up to `stop` times from the end of each token.
class StripStep : public DecodeStep {
 public:
  StripStep(std::string content, uint32_t start, uint32_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::string content_;
  uint32_t start_, stop_;
};

// The same from the front of the text as a whole, over as many tokens as it takes.
class StripTextStep : public DecodeStep {
 public:
  StripTextStep(std::string content, uint32_t start) : content_(std::move(content)), start_(start) {}
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::string content_;
  uint32_t start_;
};

// A space in front of tokens that begin a word, but the first; `prefix` away from the others. Tidies up blanks in front
// of punctuation and English contractions where asked to.
class WordPieceStep : public DecodeStep {
 public:
  enum class Tidy { kNo, kYes };
  WordPieceStep(std::string prefix, Tidy tidy) : prefix_(std::move(prefix)), tidy_(tidy) {}
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::string prefix_;
  Tidy tidy_;
};

// `suffix`, which ends a word, to a space in front of the token after it.
class WordEndStep : public DecodeStep {
 public:
  explicit WordEndStep(std::string suffix) : suffix_(std::move(suffix)) {}
  void Apply(std::string& text, TextPlace& place) const override;

 private:
  std::string suffix_;
};

// A space between tokens: what tokenizers without a decoder do.
class SpacesBetween : public DecodeStep {
 public:
  void Apply(std::string& text, TextPlace& place) const override;
};

using DecodeSteps = std::vector<std::unique_ptr<const DecodeStep>>;

}  // namespace ekvi::text
