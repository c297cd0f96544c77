// Text out of tokens one by one, never a broken character: what Tokenizer::NewTextStream gives.
#pragma once

#include <memory>
#include <span>

#include "text/tokenizer.h"

namespace ekvi::text {

// A stream at the start of a text, or, with `before`, one that continues the text of these tokens: a space in front of
// the first word then stays, and a character they left unfinished is finished. The tokenizer must outlive it. Whatever
// tokens are pushed, what all calls return together is Tokenizer::Decode of them. Push gives Error(kInvalidArgument)
// for an id outside the vocabulary, the stream unchanged.
std::unique_ptr<TextStream> NewTextStream(const Tokenizer& tokenizer, std::span<const int32_t> before = {});

}  // namespace ekvi::text
