// Text through a pre-tokenizer into a model.
#pragma once

#include <string_view>

#include "text/pre_tokenizer.h"
#include "text/subword_model.h"

namespace ekvi::text {

// Cuts `text` into words and encodes each. Bytes that are no character are words of their own, a run of them one word;
// what stands before and behind is cut as texts of their own.
void EncodePieces(std::string_view text, const PreTokenizer& splitter, WordEncoder& encoder, bool first = true);

}  // namespace ekvi::text
