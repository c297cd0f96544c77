// The Unigram tokenizers of GGUF files (tokenizer.ggml.model "t5"), with SentencePiece's normalizer.
#pragma once

#include <optional>
#include <string>

#include "text/gguf/gguf_tokenizer.h"
#include "text/model/unigram_model.h"
#include "text/pipeline/charsmap.h"

namespace ekvi::text {

// What becomes of spaces: all are kept, or those at the ends go and runs become one.
enum class UnigramSpaces { kAll, kOneBetweenWords };

// Text is replaced by the longest entries of the charsmap, spaces are marked with U+2581 and one is put in front where
// the vocabulary asks for it. Bytes that are no character become U+FFFD each.
class UnigramTokenizer : public GgufTokenizer {
 public:
  // The vocabulary has scores.
  UnigramTokenizer(Vocabulary vocabulary, std::optional<Charsmap> charsmap, UnigramSpaces spaces);

 protected:
  void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const override;
  void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const override;

 private:
  std::string Normalise(std::string_view text) const;

  std::optional<Charsmap> charsmap_;
  UnigramSpaces spaces_;
  std::unique_ptr<const UnigramModel> model_;
};

}  // namespace ekvi::text
