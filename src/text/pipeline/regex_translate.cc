// Copies a pattern and replaces what the two libraries read differently. Facts: Oniguruma's doc/RE (syntax Ruby, which
// its default is) and pcre2pattern(3).
#include <fmt/core.h>

#include <array>
#include <cctype>
#include <string>

#include "ekvi/error.h"
#include "files/reader_error.h"
#include "text/pipeline/regex.h"

namespace ekvi::text {
namespace {

// Inside of a class. PCRE2's \s also takes U+180E, and its \w no combining marks.
constexpr std::string_view kSpaces =
    R"(\x{9}-\x{d} \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kWords = R"(\p{L}\p{M}\p{N}\p{Pc})";
constexpr std::string_view kDigits = R"(\p{Nd})";
constexpr std::string_view kHexDigits = "0-9a-fA-F";

// Patterns of public tokenizers that take quadratic time on long runs, and what matches the same in linear time.
// A run of blanks has at most one match of the first, and it begins where the run does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 1> kLinear = {{
    {R"(\s+$)", R"((?<!\s)\s+$)"},
}};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string Translate() {
    while (at_ < pattern_.size()) {
      if (pattern_[at_] == '\\') {
        Escape();
      } else if (pattern_[at_] == '[') {
        Class();
      } else if (Rest().starts_with("(?") && !Rest().starts_with("(?<") && !Rest().starts_with("(?P")) {
        GroupHead();
      } else if (pattern_[at_] == '{') {
        Interval();
      } else {
        out_ += pattern_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  std::string_view Rest() const { return pattern_.substr(at_); }

  [[noreturn]] void Refuse(std::string_view what) const {
    throw Error(ErrorCode::kUnsupported, fmt::format("the pattern {} has {}", files::Quote(pattern_), what),
                fmt::format("at byte {} of {}", at_, pattern_.size()), kOtherPattern);
  }

  // The inside of a class that a letter stands for; empty for other letters.
  static std::string_view SetOf(char letter) {
    switch (std::tolower(static_cast<unsigned char>(letter))) {
      case 's':
        return kSpaces;
      case 'w':
        return kWords;
      case 'd':
        return kDigits;
      case 'h':
        return kHexDigits;
      default:
        return {};
    }
  }

  void Escape() {
    if (at_ + 1 == pattern_.size()) Refuse("a backslash at its end");
    const char letter = pattern_[at_ + 1];
    if (const std::string_view set = SetOf(letter); !set.empty()) {
      out_ += fmt::format("[{}{}]", std::isupper(static_cast<unsigned char>(letter)) ? "^" : "", set);
      at_ += 2;
    } else if (letter == 'b') {
      out_ += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWords);
      at_ += 2;
    } else if (letter == 'B') {
      out_ += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWords);
      at_ += 2;
    } else {
      Character();
    }
  }

  // An escape that stands for a character or a property, in a class or outside.
  void Character() {
    if (at_ + 1 == pattern_.size()) Refuse("a backslash at its end");
    const char letter = pattern_[at_ + 1];
    if (letter == 'u') {
      const std::string_view digits = pattern_.substr(at_ + 2, 4);
      if (digits.size() != 4 || digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos) {
        Refuse("\\u without four hexadecimal digits");
      }
      out_ += fmt::format("\\x{{{}}}", digits);
      at_ += 6;
      return;
    }
    size_t bytes = 2;
    if (std::string_view("pPxkgo").find(letter) != std::string_view::npos && Rest().substr(2).starts_with("{")) {
      const size_t end = Rest().find('}');
      if (end == std::string_view::npos) Refuse("a brace without end");
      bytes = end + 1;
    }
    out_ += Rest().substr(0, bytes);
    at_ += bytes;
  }

  void Class() {
    out_ += pattern_[at_++];
    if (Rest().starts_with("^")) out_ += pattern_[at_++];
    ClassItems(0);
    out_ += ']';
  }

  // The items of a class up to its end. A class in a class adds what it contains.
  void ClassItems(int depth) {
    if (Rest().starts_with("]")) out_ += "\\]", ++at_;
    while (!Rest().starts_with("]")) {
      if (at_ == pattern_.size()) Refuse("a class without end");
      if (Rest().starts_with("&&")) Refuse("an intersection of classes");
      if (Rest().starts_with("[:")) {
        const size_t end = Rest().find(":]");
        if (end == std::string_view::npos) Refuse("a class in a class");
        out_ += Rest().substr(0, end + 2);
        at_ += end + 2;
      } else if (pattern_[at_] == '[') {
        if (Rest().starts_with("[^") || depth > 0 || out_.back() == '-') Refuse("a class in a class");
        ++at_;
        ClassItems(depth + 1);
      } else if (pattern_[at_] == '\\') {
        ClassEscape();
      } else {
        out_ += pattern_[at_++];
      }
    }
    ++at_;
  }

  void ClassEscape() {
    const char letter = at_ + 1 < pattern_.size() ? pattern_[at_ + 1] : '\0';
    const std::string_view set = SetOf(letter);
    if (set.empty()) return Character();
    if (letter == 'S' || letter == 'W' || letter == 'H') Refuse("a negated class in a class");
    if (letter == 'D') {
      out_ += R"(\P{Nd})";
    } else {
      out_ += set;
    }
    at_ += 2;
  }

  // (?imx-imx) and (?imx-imx:…): Ruby's m is PCRE2's s. Other groups are the same in both.
  void GroupHead() {
    out_ += "(?";
    at_ += 2;
    size_t end = at_;
    while (end < pattern_.size() && std::string_view("imx-").find(pattern_[end]) != std::string_view::npos) ++end;
    if (end == pattern_.size() || (pattern_[end] != ')' && pattern_[end] != ':')) return;
    for (; at_ < end; ++at_) out_ += pattern_[at_] == 'm' ? 's' : pattern_[at_];
  }

  void Interval() {
    const size_t end = Rest().find('}');
    const std::string_view body = Rest().substr(1, end == std::string_view::npos ? end : end - 1);
    const bool interval = end != std::string_view::npos && !body.empty() &&
                          body.find_first_not_of("0123456789,") == std::string_view::npos && body != ",";
    if (!interval) {
      out_ += "\\{";
      ++at_;
      return;
    }
    out_ += fmt::format("{{{}{}}}", body.front() == ',' ? "0" : "", body);
    at_ += end + 1;
    if (Rest().starts_with("+")) Refuse("a possessive interval");
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string TranslateRegex(std::string_view pattern) {
  for (const auto& [known, linear] : kLinear) {
    if (pattern == known) return Translator(linear).Translate();
  }
  return Translator(pattern).Translate();
}

}  // namespace ekvi::text
