// The byte-level tokenizers of GGUF files (tokenizer.ggml.model "gpt2"): words cut by the pre-tokenizer that the file
// names, their bytes joined by byte-pair encoding.
#pragma once

#include "text/gguf/gguf_tokenizer.h"
#include "text/gguf/pre_tokenizer_names.h"
#include "text/model/bpe_model.h"

namespace ekvi::text {

// Any bytes can be written: those that are no character stand alone.
class BpeTokenizer : public GgufTokenizer {
 public:
  // The model writes bytes.
  BpeTokenizer(std::string_view name, Vocabulary vocabulary, std::unique_ptr<const PreTokenizer> splitter,
               std::unique_ptr<const BpeModel> model);

 protected:
  void EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const override;
  void AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const override;

 private:
  std::unique_ptr<const PreTokenizer> splitter_;
  std::unique_ptr<const BpeModel> model_;
};

}  // namespace ekvi::text
