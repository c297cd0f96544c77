#include "jinja/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "jinja/failure.h"
#include "jinja/number_format.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

int DigitOf(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'z' ? lower - 'a' + 10 : 99;
}

// Digits of a base with single underscores between them, from `at` on; the end of them.
size_t DigitsEnd(std::string_view source, size_t at, int base) {
  size_t end = at;
  while (at < source.size()) {
    if (source[at] == '_' && at > 0) ++at;
    if (at >= source.size() || DigitOf(source[at]) >= base) break;
    end = ++at;
  }
  return end;
}

std::string Without(std::string_view text, char drop) {
  std::string result(text);
  result.erase(std::remove(result.begin(), result.end(), drop), result.end());
  return result;
}

// The end of a fraction and an exponent behind the digits that end at `at`; `at` where there are none.
size_t FloatEnd(std::string_view source, size_t at) {
  size_t end = at;
  if (end + 1 < source.size() && source[end] == '.' && IsDigit(source[end + 1])) end = DigitsEnd(source, end + 1, 10);
  if (end < source.size() && (source[end] | 0x20) == 'e') {
    size_t exponent = end + 1;
    if (exponent < source.size() && (source[exponent] == '+' || source[exponent] == '-')) ++exponent;
    if (exponent < source.size() && IsDigit(source[exponent])) end = DigitsEnd(source, exponent, 10);
  }
  return end;
}

int BaseOf(std::string_view source) {
  if (source.size() < 3 || source[0] != '0') return 10;
  const int base = (source[1] | 0x20) == 'x' ? 16 : (source[1] | 0x20) == 'o' ? 8 : (source[1] | 0x20) == 'b' ? 2 : 10;
  const char first = source[2] == '_' && source.size() > 3 ? source[3] : source[2];
  return base != 10 && DigitOf(first) < base ? base : 10;
}

// One escape sequence after the other; `at` stands behind the backslash.
class Escapes {
 public:
  Escapes(std::string_view text, int line) : text_(text), line_(line) {}

  std::string Run() {
    while (at_ < text_.size()) {
      const size_t backslash = std::min(text_.find('\\', at_), text_.size());
      result_.append(text_, at_, backslash - at_);
      at_ = backslash;
      if (at_ < text_.size()) One();
    }
    return std::move(result_);
  }

 private:
  void One() {
    static constexpr std::string_view kFrom = "abfnrtv\\'\"", kTo = "\a\b\f\n\r\t\v\\'\"";
    const char c = text_[++at_];
    const size_t simple = kFrom.find(c);
    if (simple != std::string_view::npos) {
      result_ += kTo[simple];
      ++at_;
    } else if (c == '\n') {
      ++at_;
    } else if (c >= '0' && c <= '7') {
      Octal();
    } else if (c == 'x' || c == 'u' || c == 'U') {
      ++at_;
      AddCode(Hexadecimal(c == 'x' ? 2 : c == 'u' ? 4 : 8));
    } else {
      Unknown();
    }
  }

  void Octal() {
    char32_t code = 0;
    for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) {
      code = code * 8 + static_cast<char32_t>(text_[at_++] - '0');
    }
    AddCode(code);
  }

  char32_t Hexadecimal(size_t digits) {
    char32_t code = 0;
    for (size_t i = 0; i < digits; ++i, ++at_) {
      if (at_ >= text_.size() || DigitOf(text_[at_]) >= 16) FailHere("a truncated \\x, \\u or \\U escape");
      code = code * 16 + static_cast<char32_t>(DigitOf(text_[at_]));
    }
    return code;
  }

  void AddCode(char32_t code) {
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {  // a pair makes one character
      at_ += 2;
      const char32_t low = Hexadecimal(4);
      if (low >= 0xDC00 && low < 0xE000) code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) FailHere("an escape that is no character");
    AppendCharacter(code, result_);
  }

  // Python reads texts as ASCII with every other character written as an escape. So behind a backslash such a character
  // becomes the letters of that escape.
  void Unknown() {
    result_ += '\\';
    const std::string_view rest = text_.substr(at_);
    const Character head = FirstCharacter(rest);
    const auto code = static_cast<uint32_t>(head.code);
    if (code < 0x80) {
      result_ += static_cast<char>(code);
    } else {
      result_ += code < 0x100     ? fmt::format("x{:02x}", code)
                 : code < 0x10000 ? fmt::format("u{:04x}", code)
                                  : fmt::format("U{:08x}", code);
    }
    at_ += head.bytes;
  }

  [[noreturn]] void FailHere(std::string message) const { throw Failure{.message = std::move(message), .line = line_}; }

  std::string_view text_;
  int line_;
  size_t at_ = 0;
  std::string result_;
};

}  // namespace

size_t NameBytes(std::string_view source) {
  size_t bytes = 0;
  while (bytes < source.size()) {
    const Character head = FirstCharacter(source.substr(bytes));
    const bool letter = head.code == '_' || IsAlpha(head.code);
    if (!letter && !(bytes > 0 && (IsDecimal(head.code) || IsNumeric(head.code)))) break;
    bytes += head.bytes;
  }
  return bytes;
}

NumberLiteral ReadNumberLiteral(std::string_view source, bool after_dot, int line) {
  NumberLiteral literal;
  const int base = BaseOf(source);
  const size_t begin = base == 10 ? 0 : 2;
  size_t end = DigitsEnd(source, begin, base);
  const size_t float_end = base == 10 && !after_dot ? FloatEnd(source, end) : end;
  literal.is_float = float_end > end;
  if (!literal.is_float && base == 10 && source[0] == '0') end = DigitsEnd(source, 0, 1);  // 0 begins no other integer
  literal.bytes = literal.is_float ? float_end : end;
  if (literal.is_float) {
    literal.number = ReadDouble(Without(source.substr(0, float_end), '_'));
    return literal;
  }
  const std::string digits = Without(source.substr(begin, end - begin), '_');
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), literal.integer, base);
  if (error != std::errc{}) {
    throw Failure{
        .code = ErrorCode::kUnsupported,
        .message = fmt::format("the integer {} does not fit 64 bits", source.substr(0, std::min<size_t>(end, 40))),
        .line = line};
  }
  return literal;
}

std::string ResolveEscapes(std::string_view text, int line) { return Escapes(text, line).Run(); }

}  // namespace ekvi::jinja
