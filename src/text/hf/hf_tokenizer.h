// The tokenizers of Hugging Face folders: added tokens, normalizer, pre-tokenizers, model and decoder as tokenizer.json
// states them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "text/model/subword_model.h"
#include "text/pipeline/added_tokens.h"
#include "text/pipeline/decode_steps.h"
#include "text/pipeline/normalizer.h"
#include "text/pipeline/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace ekvi::text {

struct HfTokenizerParts {
  AddedTokens raw, normalized;                   // looked for in the text, and in the normalized text
  std::unique_ptr<const Normalizer> normalizer;  // nullptr: none
  std::unique_ptr<const PreTokenizer> splitter;
  std::unique_ptr<const SubwordModel> model;
  DecodeSteps decoder;
  std::unordered_map<int32_t, std::string> written;  // what tokens write that do not write their piece
  bool spells_bytes = false;                         // the model sees bytes as characters of the byte alphabet
};

// Bytes that are no character go past normalizer and pre-tokenizers, as words of their own.
class HfTokenizer : public Tokenizer {
 public:
  HfTokenizer(std::string_view name, Vocabulary vocabulary, HfTokenizerParts parts);

 private:
  void EncodeText(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& ids) const override;
  void AppendToken(int32_t token, TextPlace& place, std::string& bytes) const override;

  HfTokenizerParts parts_;
};

// That of LoadTokenizerFolder from a tokenizer.json alone.
std::unique_ptr<Tokenizer> LoadTokenizerJson(std::string_view json, std::string name);

}  // namespace ekvi::text
