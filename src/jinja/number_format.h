// How numbers are written where a format asks for digits: shared by `%` and str.format.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

// A width or precision past this is refused: no text for people is that wide.
inline constexpr int64_t kMaxFormatWidth = 1 << 20;

struct NumberFormat {
  char type = 0;           // d b o x X e E f F g G % n; 0: by the value
  char sign = '-';         // '-', '+' or ' '
  bool alternate = false;  // #: 0x in front
  char grouping = 0;       // ',' or '_'
  int precision = -1;      // digits after the point; -1: not given
};

// The sign with a prefix (0x), and the digits: zeros that fill go between.
struct NumberText {
  std::string sign, digits;
};
// `type` is one for integers: d b o x X c n.
NumberText FormatInteger(int64_t value, const NumberFormat& format);
// `type` is one for floats: e E f F g G % n, or 0 for Python's own form.
NumberText FormatFloat(double value, const NumberFormat& format);

// Digits from `at` on as a number that is at most kMaxFormatWidth; nothing where there is none.
std::optional<int> ReadWidth(std::string_view text, size_t& at);

// strtod in the C locale, which no setlocale of the host changes: a template's numbers have points.
double ReadDouble(const std::string& text, char** end = nullptr);

}  // namespace ekvi::jinja
