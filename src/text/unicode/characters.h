// Characters of text and the sets they belong to, as the tokenizers of tokenizer.json see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ekvi::text {

struct Character {
  uint32_t code;
  size_t bytes;
};

// What `text` begins with; `text` is not empty and valid UTF-8.
Character ReadCharacter(std::string_view text);

// Appends a character; `code` is a Unicode scalar value.
void AppendCharacter(uint32_t code, std::string& text);

bool IsWhiteSpace(uint32_t code);   // the property White_Space
bool IsNumeric(uint32_t code);      // decimal, letter and other numbers
bool IsPunctuation(uint32_t code);  // the categories P*, and all of ASCII that is neither letter, digit nor blank
bool IsWord(uint32_t code);         // letters, marks, decimal digits, connectors
bool IsHan(uint32_t code);          // the ideographs that BERT sets apart

}  // namespace ekvi::text
