// Names, numbers and texts as templates write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ekvi::jinja {

// Bytes of the name that `source` begins with: letters, digits, underscores, no digit first; 0 where there is none.
size_t NameBytes(std::string_view source);

struct NumberLiteral {
  bool is_float = false;
  int64_t integer = 0;
  double number = 0;
  size_t bytes = 0;
};
// `source` begins with a digit. Behind a dot there are integers only: x.0.1. Throws Failure with the line for an
// integer that does not fit 64 bits.
NumberLiteral ReadNumberLiteral(std::string_view source, bool after_dot, int line);

// What stands between quotes, with its escapes resolved as in Python. Throws Failure with the line for broken ones.
std::string ResolveEscapes(std::string_view text, int line);

}  // namespace ekvi::jinja
