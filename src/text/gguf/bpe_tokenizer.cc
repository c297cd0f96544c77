#include "text/gguf/bpe_tokenizer.h"

#include "text/pipeline/encode_pieces.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {

BpeTokenizer::BpeTokenizer(std::string_view name, Vocabulary vocabulary, std::unique_ptr<const PreTokenizer> splitter,
                           std::unique_ptr<const BpeModel> model)
    : GgufTokenizer(name, std::move(vocabulary)), splitter_(std::move(splitter)), model_(std::move(model)) {}

void BpeTokenizer::EncodePlain(std::string_view text, TextPlace, std::vector<int32_t>& ids) const {
  const auto encoder = model_->NewEncoder(text.size(), ids);
  for (const Utf8Run& run : Utf8Runs(text)) {
    if (run.valid) {
      EncodePieces(run.text, *splitter_, *encoder, false);
    } else {
      encoder->Encode(run.text);
    }
  }
}

void BpeTokenizer::AppendPiece(std::string_view piece, TextPlace, std::string& bytes) const {
  bytes += BytesOfPiece(piece).value_or(std::string(piece));
}

}  // namespace ekvi::text
