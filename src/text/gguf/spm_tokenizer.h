// The tokenizer of Llama's first two generations: SentencePiece's byte-pair encoding with byte fallback.
#pragma once

#include "text/gguf/gguf_tokenizer.h"
#include "text/vocabulary/piece_table.h"

namespace ekvi::text {

// A space is written as U+2581, and where the vocabulary asks for it one is put in front of a text and of what follows
// a special token (as llama.cpp does; decoding takes it away again). A character that no piece writes becomes its
// bytes' tokens; where the vocabulary lacks these, a run of such characters becomes one unknown token, as in
// SentencePiece.
class SpmTokenizer : public GgufTokenizer {
 public:
  // The vocabulary has scores.
  explicit SpmTokenizer(Vocabulary vocabulary);

 protected:
  void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const override;
  void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const override;
  void AppendUserDefined(std::string_view piece, std::string& bytes) const override;

 private:
  enum class Last { kKnown, kUnknown };

  Last AppendFallback(std::string_view symbol, Last last, std::vector<int32_t>& ids) const;

  PieceTable texts_;
  bool words_apart_ = true;  // no piece reaches from a word into the space after it
};

}  // namespace ekvi::text
