// The tokenizers of GGUF files with tokenizer.ggml.model "gemma4": byte-pair encoding of characters by a list of
// merges, in a vocabulary of SentencePiece's making, where U+2581 stands for a space.
#pragma once

#include "text/gguf/gguf_tokenizer.h"
#include "text/model/bpe_model.h"

namespace ekvi::text {

// Text is cut into runs of line ends and what lies between; a run of line ends that is a token as a whole is that
// token. A character that no piece writes becomes its bytes' tokens.
class MarkedBpeTokenizer : public GgufTokenizer {
 public:
  // The model writes characters.
  MarkedBpeTokenizer(std::string_view name, Vocabulary vocabulary, std::unique_ptr<const BpeModel> model);

 protected:
  void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const override;
  void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const override;
  void AppendUserDefined(std::string_view piece, std::string& bytes) const override;

 private:
  std::unique_ptr<const BpeModel> model_;
  std::vector<int32_t> line_ends_;  // [n]: the token of n line ends; -1: none
};

}  // namespace ekvi::text
