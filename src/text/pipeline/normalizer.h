// Rewrites text before it is cut into words. Names and rules are those of Hugging Face tokenizers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/pre_tokenizer.h"

namespace ekvi::text {

// Read-only and safe to share between threads.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  // `text` is valid UTF-8 and stays so; n log n time.
  virtual void Apply(std::string& text) const = 0;
};

// Error(kCapacity) over 256 MiB, four times the longest text that is encoded: replacements that each double a text
// would fill memory.
void CheckNormalizedBytes(size_t bytes);

// Unicode normalization forms (Unicode Standard Annex 15), by libutf8proc's version of the data.
class UnicodeForm : public Normalizer {
 public:
  enum class Form { kNfc, kNfd, kNfkc, kNfkd };
  explicit UnicodeForm(Form form) : form_(form) {}
  void Apply(std::string& text) const override;

 private:
  Form form_;
};

// Each character to what a function appends for it.
class CharacterMap : public Normalizer {
 public:
  using Append = void (*)(uint32_t code, std::string& text);
  explicit CharacterMap(Append append) : append_(append) {}
  void Apply(std::string& text) const override;

 private:
  Append append_;
};

void AppendLowercase(uint32_t code, std::string& text);
void AppendUnlessMark(uint32_t code, std::string& text);            // StripAccents
void AppendUnlessNonspacingMark(uint32_t code, std::string& text);  // the same in BertNormalizer
void AppendNmt(uint32_t code, std::string& text);                   // controls away, blanks of all kinds to spaces
void AppendBertClean(uint32_t code, std::string& text);             // the same by BERT's rule
void AppendHanApart(uint32_t code, std::string& text);              // a space on both sides of an ideograph

// White space away from the ends.
class Strip : public Normalizer {
 public:
  enum class Sides { kNone, kLeft, kRight, kBoth };
  explicit Strip(Sides sides) : sides_(sides) {}
  void Apply(std::string& text) const override;

 private:
  Sides sides_;
};

// Each match of a pattern to `content`.
class Replace : public Normalizer {
 public:
  Replace(std::unique_ptr<const CutPattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void Apply(std::string& text) const override;

 private:
  std::unique_ptr<const CutPattern> pattern_;
  std::string content_;
};

// Puts `prefix` in front of a text that is not empty.
class Prepend : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  void Apply(std::string& text) const override;

 private:
  std::string prefix_;
};

// Bytes to the characters of the byte alphabet.
class SpellBytes : public Normalizer {
 public:
  void Apply(std::string& text) const override;
};

class NormalizerRow : public Normalizer {
 public:
  explicit NormalizerRow(std::vector<std::unique_ptr<const Normalizer>> row) : row_(std::move(row)) {}
  void Apply(std::string& text) const override;

 private:
  std::vector<std::unique_ptr<const Normalizer>> row_;
};

}  // namespace ekvi::text
