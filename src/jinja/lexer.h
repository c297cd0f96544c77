// A template's text as tokens: its data, and names, numbers, texts and signs between the delimiters.
//
// Whitespace as transformers asks for it: trim_blocks (the line feed after a block or comment is not part of the text)
// and lstrip_blocks (nor are blanks before a block or comment that begins a line). `-` and `+` at a delimiter override
// both. One line feed at the end of the template is dropped, \r\n and \r become \n.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi::jinja {

enum class TokenKind {
  kData,           // text: the data
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,     // text: the name
  kInteger,  // integer
  kFloat,    // number
  kText,     // text: without quotes, escapes resolved
  kSign,     // text: "+", "//", "==" …
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text = {};
  int64_t integer = 0;
  double number = 0;

  bool IsSign(std::string_view sign) const { return kind == TokenKind::kSign && text == sign; }
  bool IsName(std::string_view name) const { return kind == TokenKind::kName && text == name; }
};

// Ends with one kEnd. Throws Failure with its line. Time and memory are linear in the source, which is valid UTF-8.
std::vector<Token> Tokenize(std::string_view source);

}  // namespace ekvi::jinja
