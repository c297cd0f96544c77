// Text through a pre-tokenizer into a model.
#pragma once

#include <string_view>
#include <vector>

#include "text/model/subword_model.h"
#include "text/pipeline/pre_tokenizer.h"

namespace ekvi::text {

// Cuts `text`, which is valid UTF-8, into words and encodes each. `first`: the whole text begins here.
void EncodePieces(std::string_view text, const PreTokenizer& splitter, WordEncoder& encoder, bool first);

// Any bytes as runs of characters and runs of bytes that are none, in turn. A valid text is one run.
struct Utf8Run {
  std::string_view text;
  bool valid = false;
};
std::vector<Utf8Run> Utf8Runs(std::string_view text);

}  // namespace ekvi::text
