#include "jinja/brace_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "jinja/attributes.h"
#include "jinja/failure.h"
#include "jinja/number_format.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

struct Specification {
  std::string fill = " ";
  char align = 0;  // < > = ^; 0: by the value
  int width = 0;
  NumberFormat number;
};

bool IsAlign(std::string_view text, size_t at) {
  return at < text.size() && std::string_view("<>=^").find(text[at]) != std::string_view::npos;
}

Specification ParseSpecification(std::string_view text) {
  Specification result;
  size_t at = 0;
  const auto accept = [&](std::string_view chars) {
    return at < text.size() && chars.find(text[at]) != std::string_view::npos ? text[at++] : '\0';
  };
  const size_t first = text.empty() ? 0 : FirstCharacter(text).bytes;
  if (first > 0 && IsAlign(text, first)) {
    result.fill = text.substr(0, first);
    at = first;
  }
  if (IsAlign(text, at)) result.align = text[at++];
  if (const char sign = accept("+- ")) result.number.sign = sign;
  accept("z");
  if (accept("#") != 0) result.number.alternate = true;
  if (at < text.size() && text[at] == '0') {
    ++at;
    if (result.align == 0) {
      result.align = '=';
      result.fill = "0";
    }
  }
  result.width = ReadWidth(text, at).value_or(0);
  result.number.grouping = accept(",_");
  if (accept(".") != 0) {
    const auto precision = ReadWidth(text, at);
    if (!precision) Fail("Format specifier missing precision");
    result.number.precision = *precision;
  }
  if (at < text.size()) result.number.type = text[at++];
  if (at < text.size()) Fail(fmt::format("Invalid format specifier '{}'", text));
  return result;
}

std::string Padded(const NumberText& text, const Specification& specification, char align) {
  const size_t used = CountCharacters(text.sign) + CountCharacters(text.digits);
  const auto width = static_cast<size_t>(specification.width);
  const size_t fill = width > used ? width - used : 0;
  const size_t before = align == '>' ? fill : align == '^' ? fill / 2 : 0;
  std::string result;
  const auto add = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) result += specification.fill;
  };
  add(before);
  result += text.sign;
  if (align == '=') add(fill);
  result += text.digits;
  if (align != '=') add(fill - before);
  return result;
}

[[noreturn]] void FailCode(char code, const Value& value) {
  Fail(fmt::format("Unknown format code '{}' for object of type '{}'", code, TypeName(value)));
}

NumberText NumberTextOf(const Value& value, const NumberFormat& format) {
  const std::string_view integers = "bcdoxXn", floats = "eEfFgG%n";
  const bool integral = value.IsIntegral() && (format.type == 0 || integers.find(format.type) != std::string::npos);
  if (!integral && format.type != 0 && floats.find(format.type) == std::string_view::npos) FailCode(format.type, value);
  if (!integral) return FormatFloat(value.number(), format);
  if (format.precision >= 0) Fail("Precision not allowed in integer format specifier");
  if (format.type != 'c') return FormatInteger(value.integer(), format);
  if (value.integer() < 0 || value.integer() > 0x10FFFF) Fail("%c arg not in range(0x110000)");
  if (value.integer() >= 0xD800 && value.integer() < 0xE000) Fail("a surrogate is no character");
  NumberText text;
  AppendCharacter(static_cast<char32_t>(value.integer()), text.digits);
  return text;
}

// Reads a format text: literal parts, doubled braces, fields.
class Fields {
 public:
  Fields(std::string_view format, const CallArguments& arguments) : format_(format), arguments_(arguments) {}

  std::string Run(int depth) {
    if (depth > 2) Fail("Max string recursion exceeded");
    depth_ = depth;
    while (at_ < format_.size()) {
      const char c = format_[at_];
      const bool doubled = at_ + 1 < format_.size() && format_[at_ + 1] == c;
      if ((c == '{' || c == '}') && doubled) {
        Step();
        result_ += c;
        at_ += 2;
      } else if (c == '{') {
        Field();
      } else if (c == '}') {
        Fail("Single '}' encountered in format string");
      } else {
        const size_t end = std::min(format_.find_first_of("{}", at_), format_.size());
        Append(result_, format_.substr(at_, end - at_));
        at_ = end;
      }
    }
    return std::move(result_);
  }

  size_t next() const { return next_; }
  void set_next(size_t next) { next_ = next; }

 private:
  void Field() {
    const size_t begin = ++at_;
    int open = 1;
    for (; at_ < format_.size(); ++at_) {
      open += format_[at_] == '{' ? 1 : format_[at_] == '}' ? -1 : 0;
      if (open == 0) break;
    }
    if (at_ == format_.size())
      Fail(begin == at_ ? "Single '{' encountered in format string" : "expected '}' before end of string");
    const std::string_view field = format_.substr(begin, at_++ - begin);
    const size_t name_end = std::min(field.find_first_of("!:"), field.size());
    Value value = Lookup(field.substr(0, name_end));
    std::string_view rest = field.substr(name_end);
    if (rest.starts_with('!')) {
      if (rest.size() < 2) Fail("end of string while looking for conversion specifier");
      if (rest[1] != 's' && rest[1] != 'r' && rest[1] != 'a') {
        Fail(fmt::format("Unknown conversion specifier {}", rest[1]));
      }
      value = Value::Of(rest[1] == 's' ? Str(value) : Repr(value));
      rest.remove_prefix(2);
      if (!rest.empty() && rest[0] != ':') Fail("expected ':' after conversion specifier");
    }
    Append(result_, FormatValue(value, rest.empty() ? "" : Nested(rest.substr(1))));
  }

  std::string Nested(std::string_view specification) {
    if (specification.find_first_of("{}") == std::string_view::npos) return std::string(specification);
    Fields inner(specification, arguments_);
    inner.set_next(next_);
    std::string result = inner.Run(depth_ + 1);
    next_ = inner.next();
    return result;
  }

  Value Lookup(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = First(name.substr(0, end));
    for (size_t at = end; at < name.size();) {
      const bool item = name[at] == '[';
      const size_t begin = at + 1;
      const size_t close = item ? name.find(']', begin) : std::min(name.find_first_of(".[", begin), name.size());
      if (close == std::string_view::npos) Fail("Missing ']' in format string");
      const std::string_view part = name.substr(begin, close - begin);
      if (part.empty()) Fail("Empty attribute in format string");
      size_t digits = 0;
      const auto index = item ? ReadWidth(part, digits) : std::nullopt;
      const bool number = index && digits == part.size();
      value = item ? GetItem(value, number ? Value::Of(int64_t{*index}) : Value::Of(part)) : GetAttribute(value, part);
      RequireDefined(value);
      at = close + (item ? 1 : 0);
    }
    return value;
  }

  Value First(std::string_view name) {
    size_t digits = 0;
    const auto number = ReadWidth(name, digits);
    if (name.empty() || (number && digits == name.size())) {
      const size_t index = number ? static_cast<size_t>(*number) : next_++;
      if (index < arguments_.positional.size()) return arguments_.positional[index];
      Fail(fmt::format("Replacement index {} out of range for positional args tuple", index));
    }
    for (const auto& [key, value] : arguments_.named) {
      if (key == name) return value;
    }
    Fail(ReprText(name));
  }

  std::string_view format_;
  const CallArguments& arguments_;
  size_t at_ = 0, next_ = 0;
  int depth_ = 1;
  std::string result_;
};

}  // namespace

std::string FormatValue(const Value& value, std::string_view specification) {
  if (specification.empty()) return Str(value);
  const bool number = value.IsNumber() && !(value.IsBool() && specification.back() == 's');
  if (!number && !value.IsText()) {
    Fail(fmt::format("unsupported format string passed to {}.__format__", TypeName(value)));
  }
  const Specification parsed = ParseSpecification(specification);
  if (number) {
    NumberText text = NumberTextOf(value, parsed.number);
    return Padded(text, parsed, parsed.align == 0 ? '>' : parsed.align);
  }
  if (parsed.number.type != 0 && parsed.number.type != 's') FailCode(parsed.number.type, value);
  if (parsed.align == '=') Fail("'=' alignment not allowed in string format specifier");
  std::string text = value.text();
  if (parsed.number.precision >= 0) {
    text.resize(CharacterOffset(text, static_cast<size_t>(parsed.number.precision)));
  }
  return Padded({"", std::move(text)}, parsed, parsed.align == 0 ? '<' : parsed.align);
}

std::string BraceFormat(std::string_view format, const CallArguments& arguments) {
  return Fields(format, arguments).Run(1);
}

}  // namespace ekvi::jinja
