// What the vocabularies of GGUF files have in common: kinds of pieces, special tokens found in the text before the rest
// of it is encoded.
#pragma once

#include "text/tokenizer.h"
#include "text/vocabulary/special_names.h"

namespace ekvi::text {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581: a space in SentencePiece's vocabularies

// `text` with marks for spaces, and one in front where `prefix`.
std::string MarkSpaces(std::string_view text, bool prefix);

// User-defined tokens are found in any text; with `special` the names of control tokens and of the unknown token are
// too, longest first.
class GgufTokenizer : public Tokenizer {
 protected:
  GgufTokenizer(std::string_view name, Vocabulary vocabulary);

  // Text without special tokens, not empty; place.start right behind one, and at the start.
  virtual void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const = 0;
  // The bytes that a piece of text writes; of a byte piece, `piece` is that byte.
  virtual void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const = 0;
  // `piece` with spaces for U+2581; where the vocabulary puts a space in front of texts, not the one at their start.
  void AppendUnmarked(std::string_view piece, TextPlace place, std::string& bytes) const;
  // The bytes of a user-defined token.
  virtual void AppendUserDefined(std::string_view piece, std::string& bytes) const { bytes += piece; }

 private:
  void EncodeText(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& ids) const final;
  void AppendToken(int32_t token, TextPlace& place, std::string& bytes) const final;

  SpecialNames always_, on_request_;
};

}  // namespace ekvi::text
