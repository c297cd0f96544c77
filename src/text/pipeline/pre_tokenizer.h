// Cuts text into words, before a model turns each word into tokens alone. Pre-tokenizers stand in a row: each cuts what
// the one before it left whole. Names and rules are those of Hugging Face tokenizers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/regex.h"

namespace ekvi::text {

// A part of a text on its way to the model.
struct Piece {
  std::string_view text;
  bool first = false;  // begins where the whole text begins
};

class PieceSink {
 public:
  virtual ~PieceSink() = default;
  // `piece` is not empty and lives until the call returns.
  virtual void Take(Piece piece) = 0;
};

// Read-only and safe to share between threads.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Gives the parts of `piece`, which is not empty and valid UTF-8, in order to `sink`.
  virtual void Split(Piece piece, PieceSink& sink) const = 0;
};

// Where a text is cut.
class CutPattern {
 public:
  virtual ~CutPattern() = default;
  // The next match of a walk over `text`.
  virtual std::optional<Regex::Match> Next(std::string_view text, Regex::Walk& walk) const = 0;
};

class RegexCut : public CutPattern {
 public:
  explicit RegexCut(std::string_view pattern) : regex_(pattern) {}
  std::optional<Regex::Match> Next(std::string_view text, Regex::Walk& walk) const override {
    return regex_.Next(text, walk);
  }

 private:
  Regex regex_;
};

// Each place where `literal`, which is not empty, stands.
class LiteralCut : public CutPattern {
 public:
  explicit LiteralCut(std::string literal) : literal_(std::move(literal)) {}
  std::optional<Regex::Match> Next(std::string_view text, Regex::Walk& walk) const override;

 private:
  std::string literal_;
};

// Each character of a set alone.
class CharacterCut : public CutPattern {
 public:
  explicit CharacterCut(bool (*contains)(uint32_t code)) : contains_(contains) {}
  std::optional<Regex::Match> Next(std::string_view text, Regex::Walk& walk) const override;

 private:
  bool (*contains_)(uint32_t code);
};

// What becomes of the matches. Merged: a match that stands beside text joins it; among several in a row the one next to
// the text does. Contiguous: neighbouring matches stay together.
enum class CutBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
// Whether the matches are what cuts, or what lies between them.
enum class CutAt { kMatches, kGaps };

class Splitter : public PreTokenizer {
 public:
  Splitter(std::unique_ptr<const CutPattern> pattern, CutBehavior behavior, CutAt at = CutAt::kMatches)
      : pattern_(std::move(pattern)), behavior_(behavior), at_(at) {}
  void Split(Piece piece, PieceSink& sink) const override;

 private:
  std::unique_ptr<const CutPattern> pattern_;
  CutBehavior behavior_;
  CutAt at_;
};

// Puts a space in front of pieces that do not begin with one.
class SpacePrefixer : public PreTokenizer {
 public:
  void Split(Piece piece, PieceSink& sink) const override;
};

// Writes bytes as the characters of the byte alphabet.
class ByteSpeller : public PreTokenizer {
 public:
  void Split(Piece piece, PieceSink& sink) const override;
};

// Writes spaces as `mark`, puts one in front where the scheme says so, and cuts in front of each where asked to.
class Metaspace : public PreTokenizer {
 public:
  enum class Prepend { kAlways, kFirst, kNever };
  enum class Cut { kBeforeMarks, kNowhere };
  Metaspace(std::string mark, Prepend prepend, Cut cut) : mark_(std::move(mark)), prepend_(prepend), cut_(cut) {}
  void Split(Piece piece, PieceSink& sink) const override;

 private:
  std::string mark_;
  Prepend prepend_;
  Cut cut_;
};

// Pieces of `characters` characters, the last one shorter.
class FixedLength : public PreTokenizer {
 public:
  explicit FixedLength(size_t characters) : characters_(characters) {}
  void Split(Piece piece, PieceSink& sink) const override;

 private:
  size_t characters_;
};

using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

// One after the other; none leaves text whole.
class PreTokenizerRow : public PreTokenizer {
 public:
  explicit PreTokenizerRow(PreTokenizers row) : row_(std::move(row)) {}
  void Split(Piece piece, PieceSink& sink) const override;

 private:
  PreTokenizers row_;
};

// The rule of GPT-2's encoder.py, which most byte-level vocabularies still follow.
inline constexpr std::string_view kGpt2Words =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

}  // namespace ekvi::text
