// What must hold: the vocabulary of a file of any bytes is refused, or makes a tokenizer that keeps its contract.
#include "files/gguf_test_builder.h"
#include "fuzzing.h"
#include "text/tokenizer_fuzzing.h"

namespace ekvi::fuzzing {
namespace {

// A small vocabulary for each kind of model that files name.
std::string Vocabulary(const std::string& model, const std::string& pre) {
  files::GgufBuilder builder;
  builder.String("tokenizer.ggml.model", model).String("tokenizer.ggml.pre", pre);
  builder.Strings("tokenizer.ggml.tokens",
                  {"<unk>", "<s>", "</s>", "<0x41>", "\u2581", "a", "b", "ab", "\u2581a", "<hey>", "\u0120", "\n"});
  builder.Items<float>("tokenizer.ggml.scores", 6, {0, 0, 0, 0, -1, -2, -3, -4, -5, 0, -6, -7});
  builder.Items<int32_t>("tokenizer.ggml.token_type", 5, {2, 3, 3, 6, 1, 1, 1, 1, 1, 4, 1, 1});
  builder.Strings("tokenizer.ggml.merges", {"a b", "\u2581 a"}).Bool("tokenizer.ggml.add_bos_token", true);
  builder.U32("tokenizer.ggml.bos_token_id", 1).U32("tokenizer.ggml.eos_token_id", 2);
  return builder.Bool("tokenizer.ggml.add_space_prefix", true).Build();
}

}  // namespace

void TryInput(std::string_view input) {
  const auto file = files::GgufFile::Borrow(files::AsBytes(input), "input");
  text::CheckTokenizer(*text::LoadTokenizer(file), text::kFuzzText);
}

std::vector<std::string> Seeds() {
  return {Vocabulary("llama", "default"), Vocabulary("gpt2", "gpt-2"), Vocabulary("gpt2", "llama-bpe"),
          Vocabulary("gemma4", ""),       Vocabulary("t5", ""),        Vocabulary("unigram", "")};
}

}  // namespace ekvi::fuzzing
