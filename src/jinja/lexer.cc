// A state machine over two kinds of places: outside of delimiters, where the next delimiter is searched, and inside,
// where tokens follow each other until the closing delimiter. Inside, braces are counted: `}}` ends a variable only
// where no brace, bracket or parenthesis is open, so that {{ {'a': {}} }} works.
#include "jinja/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "jinja/failure.h"
#include "jinja/literals.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

constexpr std::string_view kSigns[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                       "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};

std::string NormalizeNewlines(std::string_view source) {
  std::string result;
  result.reserve(source.size());
  for (size_t at = 0; at < source.size(); ++at) {
    if (source[at] != '\r') {
      result += source[at];
    } else {
      result += '\n';
      if (at + 1 < source.size() && source[at + 1] == '\n') ++at;
    }
  }
  if (result.ends_with('\n')) result.pop_back();
  return result;
}

bool AllSpace(std::string_view text) { return Strip(text).empty(); }

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> Run() {
    while (at_ < source_.size()) Outside();
    Add(TokenKind::kEnd);
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  char Peek(size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  [[noreturn]] void FailHere(std::string message, int line) const {
    throw Failure{.message = std::move(message), .line = line};
  }

  Token& Add(TokenKind kind) {
    tokens_.push_back({.kind = kind, .line = line_});
    return tokens_.back();
  }

  // Goes on by `bytes` and counts lines.
  std::string_view Take(size_t bytes) {
    const std::string_view taken = rest().substr(0, bytes);
    line_ += static_cast<int>(std::count(taken.begin(), taken.end(), '\n'));
    at_ += taken.size();
    return taken;
  }

  void SkipSpace() {
    const std::string_view before = rest();
    Take(before.size() - Strip(before, Side::kLeft).size());
  }

  // Data up to the next delimiter, then what that opens.
  void Outside() {
    size_t found = at_;
    while ((found = source_.find('{', found)) != std::string::npos) {
      const char next = found + 1 < source_.size() ? source_[found + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') break;
      ++found;
    }
    if (found == std::string::npos) {
      AddData(rest());
      Take(rest().size());
      return;
    }
    const char opener = source_[found + 1];
    const char sign = found + 2 < source_.size() ? source_[found + 2] : '\0';
    AddData(DataBefore(rest().substr(0, found - at_), opener, sign));
    Take(found - at_);
    const int line = line_;
    const bool signed_begin = sign == '-' || (sign == '+');
    Take(signed_begin ? 3 : 2);
    line_starting_ = false;
    if (opener == '#') {
      Comment(line);
    } else if (opener == '%' && IsRaw()) {
      Raw(line);
    } else {
      Inside(opener == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, line);
    }
  }

  // What is left of the data before a delimiter once blanks have been taken away.
  std::string_view DataBefore(std::string_view data, char opener, char sign) const {
    if (sign == '-') return Strip(data, Side::kRight);
    if (sign == '+' || opener == '{') return data;
    const size_t line_begin = data.rfind('\n') + 1;  // 0 where there is none
    const bool begins_line = line_begin > 0 || line_starting_;
    return begins_line && AllSpace(data.substr(line_begin)) ? data.substr(0, line_begin) : data;
  }

  void AddData(std::string_view data) {
    if (data.empty()) return;
    Add(TokenKind::kData).text = data;
  }

  // After a closing delimiter: `-` takes all blanks, else trim_blocks one line feed.
  void AfterEnd(char sign) {
    const size_t before = at_;
    if (sign == '-') {
      SkipSpace();
    } else if (sign != '+' && Peek() == '\n') {
      Take(1);
    }
    line_starting_ = at_ > before && source_[at_ - 1] == '\n';
  }

  void Comment(int line) {
    const size_t end = source_.find("#}", at_);
    if (end == std::string::npos) FailHere("Missing end of comment tag", line);
    const char sign = end > at_ ? source_[end - 1] : '\0';
    Take(end + 2 - at_);
    AfterEnd(sign);
  }

  bool IsRaw() const {
    std::string_view after = Strip(rest(), Side::kLeft);
    if (!after.starts_with("raw")) return false;
    after = Strip(after.substr(3), Side::kLeft);
    return after.starts_with("%}") || after.starts_with("-%}");
  }

  // {% raw %} data {% endraw %}
  void Raw(int line) {
    const size_t end = source_.find("%}", at_);
    const bool strip = source_[end - 1] == '-';
    Take(end + 2 - at_);
    if (strip) SkipSpace();
    line_starting_ = strip && source_[at_ - 1] == '\n';
    for (size_t found = at_;; found += 2) {
      found = source_.find("{%", found);
      if (found == std::string::npos) FailHere("Missing end of raw directive", line);
      if (EndRaw(found)) return;
    }
  }

  bool EndRaw(size_t found) {
    size_t at = found + 2;
    const char sign = at < source_.size() ? source_[at] : '\0';
    if (sign == '-' || sign == '+') ++at;
    std::string_view after = Strip(std::string_view(source_).substr(at), Side::kLeft);
    if (!after.starts_with("endraw")) return false;
    after = Strip(after.substr(6), Side::kLeft);
    const char end_sign = after.empty() ? '\0' : after[0];
    if (end_sign == '-' || end_sign == '+') after.remove_prefix(1);
    if (!after.starts_with("%}")) return false;
    AddData(DataBefore(rest().substr(0, found - at_), '%', sign));
    Take(source_.size() - after.size() + 2 - at_);
    AfterEnd(end_sign);
    return true;
  }

  void Inside(TokenKind begin, int line) {
    Add(begin);
    open_.clear();
    while (true) {
      SkipSpace();
      if (at_ == source_.size()) {
        FailHere("unexpected end of template, a tag is not closed", line);
      }
      if (open_.empty() && AtEnd(begin)) return;
      OneToken();
    }
  }

  // The closing delimiter of what `begin` opened.
  bool AtEnd(TokenKind begin) {
    const bool variable = begin == TokenKind::kVariableBegin;
    const char sign = Peek();
    const bool has_sign = sign == '-' || (sign == '+' && !variable);
    if (rest().substr(has_sign ? 1 : 0, 2) != (variable ? "}}" : "%}")) return false;
    Add(variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd);
    Take(has_sign ? 3 : 2);
    if (variable) {
      if (has_sign) SkipSpace();
      line_starting_ = has_sign && source_[at_ - 1] == '\n';
    } else {
      AfterEnd(has_sign ? sign : '\0');
    }
    return true;
  }

  void OneToken() {
    const char c = Peek();
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (c >= '0' && c <= '9') {
      const NumberLiteral literal = ReadNumberLiteral(rest(), after_dot, line_);
      Token& token = Add(literal.is_float ? TokenKind::kFloat : TokenKind::kInteger);
      token.integer = literal.integer;
      token.number = literal.number;
      Take(literal.bytes);
    } else if (c == '"' || c == '\'') {
      TextToken();
    } else if (const size_t bytes = NameBytes(rest())) {
      Token& token = Add(TokenKind::kName);
      token.text = Take(bytes);
    } else {
      SignToken();
    }
  }

  void TextToken() {
    const char quote = Peek();
    size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) FailHere("a text in quotes is not closed", line_);
    Token& token = Add(TokenKind::kText);
    token.text = ResolveEscapes(rest().substr(1, end - at_ - 1), line_);
    Take(end + 1 - at_);
  }

  void SignToken() {
    const auto* sign = std::find_if(std::begin(kSigns), std::end(kSigns),
                                    [&](std::string_view each) { return rest().starts_with(each); });
    if (sign == std::end(kSigns)) {
      const std::string_view character = rest().substr(0, FirstCharacter(rest()).bytes);
      FailHere(fmt::format("unexpected char '{}'", character), line_);
    }
    Balance((*sign)[0]);
    Add(TokenKind::kSign).text = *sign;
    Take(sign->size());
  }

  void Balance(char sign) {
    static constexpr std::string_view kOpen = "([{", kClose = ")]}";
    if (kOpen.find(sign) != std::string_view::npos) open_ += kClose[kOpen.find(sign)];
    if (kClose.find(sign) == std::string_view::npos) return;
    if (open_.empty()) FailHere(fmt::format("unexpected '{}'", sign), line_);
    if (open_.back() != sign) FailHere(fmt::format("unexpected '{}', expected '{}'", sign, open_.back()), line_);
    open_.pop_back();
  }

  std::string source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true;  // what was read last ends a line
  std::string open_;           // the closing signs that are awaited
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view source) { return Lexer(NormalizeNewlines(source)).Run(); }

}  // namespace ekvi::jinja
