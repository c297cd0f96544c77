// What must hold: any bytes, encoded and decoded, come back from vocabularies that have all bytes, whatever the
// pre-tokenizer; and the stream agrees. Input: the number of a pre-tokenizer (the last number: SentencePiece), then
// text.
#include "files/gguf_test_builder.h"
#include "fuzzing.h"
#include "text/gguf/pre_tokenizer_names.h"
#include "text/test_vocabulary.h"
#include "text/tokenizer_fuzzing.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::fuzzing {
namespace {

std::unique_ptr<text::Tokenizer> LoadBytes(std::string_view pre) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 256; ++i) tokens.emplace_back(text::CharacterOfByte(static_cast<uint8_t>(i)));
  for (const char* more : {"th", "the", "\u0120\u0120", "<|x|>"}) tokens.emplace_back(more);
  std::vector<int32_t> types(tokens.size(), 1);
  types.back() = 3;
  files::GgufBuilder builder;
  builder.String("tokenizer.ggml.model", "gpt2").String("tokenizer.ggml.pre", pre);
  builder.Strings("tokenizer.ggml.tokens", tokens).Items("tokenizer.ggml.token_type", 5, types);
  builder.Strings("tokenizer.ggml.merges", {"t h", "th e", "\u0120 \u0120"});
  const std::string bytes = builder.Build();
  return text::LoadTokenizer(files::GgufFile::Borrow(files::AsBytes(bytes), "memory"));
}

const std::vector<std::unique_ptr<text::Tokenizer>>& Tokenizers() {
  static const auto tokenizers = [] {
    std::vector<std::unique_ptr<text::Tokenizer>> all;
    for (const std::string_view name : text::PreTokenizerNames()) all.push_back(LoadBytes(name));
    all.push_back(text::TestVocabulary{.pieces = {{"a", -1}, {"\u2581a", -2}, {"\u2581\u2581", -3}}}.Make());
    return all;
  }();
  return tokenizers;
}

}  // namespace

void TryInput(std::string_view input) {
  if (input.empty()) return;
  const auto& tokenizers = Tokenizers();
  const size_t which = static_cast<unsigned char>(input[0]) % tokenizers.size();
  const text::Tokenizer& tokenizer = *tokenizers[which];
  const std::string_view bytes = input.substr(1);
  MustWork([&] {
    const std::vector<int32_t> ids = tokenizer.Encode(bytes);
    text::CheckStream(tokenizer, ids);
    const bool marks =
        which + 1 == tokenizers.size() && bytes.find("\u2581") != bytes.npos;  // they come back as spaces
    EKVI_CHECK(marks || tokenizer.DecodeBytes(ids) == bytes);
  });
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  for (size_t i = 0; i < Tokenizers().size(); ++i) {
    seeds.push_back(std::string(1, static_cast<char>(i)) +
                    "The theatre's  1234 HOURS\u2026 \n\n\r\n h\u00E9llo a\u0301 \u65E5\u672C "
                    "\uD55C\u00A0\t<|x|>\xF0\x9F\xA6 it'S \xFF");
  }
  return seeds;
}

}  // namespace ekvi::fuzzing
