// The pre-tokenizers that GGUF files name in tokenizer.ggml.pre.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "text/pipeline/pre_tokenizer.h"

namespace ekvi::text {

// What a name says beside the cutting of words.
struct NamedPreTokenizer {
  std::unique_ptr<const PreTokenizer> splitter;
  bool ignore_merges = false;  // a word that is a token as a whole is that token
  bool add_begin = false;      // unless tokenizer.ggml.add_bos_token says otherwise
};

// splitter nullptr where the name is not known.
NamedPreTokenizer FindPreTokenizer(std::string_view name);

// Every known name, sorted.
std::span<const std::string_view> PreTokenizerNames();

}  // namespace ekvi::text
