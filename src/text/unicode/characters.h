// Characters of text (base/utf8.h) and the sets they belong to, as the tokenizers of tokenizer.json see them.
#pragma once

#include <cstdint>

#include "base/utf8.h"

namespace ekvi::text {

using base::AppendCharacter;
using base::Character;
using base::FirstCharacter;
using base::LastCharacter;

bool IsWhiteSpace(uint32_t code);   // the property White_Space
bool IsNumeric(uint32_t code);      // decimal, letter and other numbers
bool IsPunctuation(uint32_t code);  // the categories P*, and all of ASCII that is neither letter, digit nor blank
bool IsWord(uint32_t code);         // letters, marks, decimal digits, connectors
bool IsHan(uint32_t code);          // the ideographs that BERT sets apart

}  // namespace ekvi::text
