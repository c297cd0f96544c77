#include "jinja/percent_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/number_format.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

struct Directive {
  bool left = false, zero = false;
  int width = 0;
  int precision = -1;
  NumberFormat number;
  char type = 0;
};

class Formatter {
 public:
  Formatter(std::string_view format, const Value& values) : format_(format), values_(values) {}

  std::string Run() {
    while (at_ < format_.size()) {
      const size_t sign = std::min(format_.find('%', at_), format_.size());
      Append(result_, format_.substr(at_, sign - at_));
      at_ = sign;
      if (at_ < format_.size()) OneDirective();
    }
    const bool unused = values_.IsTuple() ? next_ < values_.sequence().items.size() : next_ == 0;
    // What can be subscribed is taken for a mapping.
    const bool may_ignore = values_.IsDict() || values_.IsList() || values_.IsUndefined();
    if (unused && !may_ignore) Fail("not all arguments converted during string formatting");
    return std::move(result_);
  }

 private:
  void OneDirective() {
    ++at_;
    const std::optional<Value> named = ReadName();
    Directive directive = ReadFlags();
    if (at_ == format_.size()) Fail("incomplete format");
    directive.type = format_[at_++];
    if (directive.type == '%') {
      result_ += '%';
      return;
    }
    Pad(Convert(named ? *named : Next(), directive), directive);
  }

  std::optional<Value> ReadName() {
    if (at_ == format_.size() || format_[at_] != '(') return std::nullopt;
    const size_t begin = ++at_;
    for (int open = 1; at_ < format_.size(); ++at_) {
      open += format_[at_] == '(' ? 1 : format_[at_] == ')' ? -1 : 0;
      if (open == 0) break;
    }
    if (at_ == format_.size()) Fail("incomplete format key");
    if (!values_.IsDict()) Fail("format requires a mapping");
    const std::string key(format_.substr(begin, at_++ - begin));
    const Value* value = values_.dict().Find(key);
    if (value == nullptr) Fail(ReprText(key));
    next_ = 1;
    return *value;
  }

  Directive ReadFlags() {
    Directive directive;
    for (; at_ < format_.size(); ++at_) {
      const char c = format_[at_];
      if (c == '-') {
        directive.left = true;
      } else if (c == '0') {
        directive.zero = true;
      } else if (c == '#') {
        directive.number.alternate = true;
      } else if (c == '+' || (c == ' ' && directive.number.sign != '+')) {
        directive.number.sign = c;
      } else if (c != ' ') {
        break;
      }
    }
    directive.width = ReadNumber().value_or(0);
    if (directive.width < 0) directive.left = true;
    directive.width = std::abs(directive.width);
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      directive.precision = std::max(ReadNumber().value_or(0), 0);
    }
    while (at_ < format_.size() && (format_[at_] == 'l' || format_[at_] == 'h' || format_[at_] == 'L')) ++at_;
    return directive;
  }

  std::optional<int> ReadNumber() {
    if (at_ == format_.size() || format_[at_] != '*') return ReadWidth(format_, at_);
    ++at_;
    const Value value = Next();
    if (!value.IsIntegral()) Fail("* wants int");
    if (std::abs(static_cast<double>(value.integer())) > kMaxFormatWidth) Refuse("a width that is too large");
    return static_cast<int>(value.integer());
  }

  Value Next() {
    const bool tuple = values_.IsTuple();
    const size_t count = tuple ? values_.sequence().items.size() : 1;
    if (next_ >= count) Fail("not enough arguments for format string");
    return tuple ? values_.sequence().items[next_++] : (++next_, values_);
  }

  NumberText Convert(const Value& value, const Directive& directive) {
    switch (directive.type) {
      case 's':
        return {"", Cut(Str(value), directive.precision)};
      case 'r':
      case 'a':
        return {"", Cut(Repr(value), directive.precision)};
      case 'c':
        return {"", OneCharacter(value)};
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        return Integer(value, directive);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return Float(value, directive);
      default:
        Fail(fmt::format("unsupported format character '{}' ({:#x}) at index {}", directive.type,
                         static_cast<int>(directive.type), at_ - 1));
    }
  }

  static std::string Cut(std::string text, int precision) {
    if (precision >= 0) text.resize(CharacterOffset(text, static_cast<size_t>(precision)));
    return text;
  }

  static std::string OneCharacter(const Value& value) {
    std::string text;
    if (value.IsText() && value.whole_text().characters == 1) return value.text();
    const bool valid = value.IsIntegral() && value.integer() >= 0 && value.integer() < 0x110000 &&
                       (value.integer() < 0xD800 || value.integer() > 0xDFFF);
    if (!valid) Fail("%c requires int or char");
    AppendCharacter(static_cast<char32_t>(value.integer()), text);
    return text;
  }

  static NumberText Integer(const Value& value, const Directive& directive) {
    RequireDefined(value);
    const bool decimal = std::string_view("diu").find(directive.type) != std::string_view::npos;
    NumberFormat format = directive.number;
    format.type = decimal ? 'd' : directive.type;
    int64_t integer = 0;
    if (value.IsIntegral()) {
      integer = value.integer();
    } else if (decimal && value.IsFloat() && std::abs(value.number()) < 0x1p63) {
      integer = static_cast<int64_t>(value.number());
    } else {
      Fail(fmt::format("%{} format: {} is required, not {}", directive.type, decimal ? "a real number" : "an integer",
                       TypeName(value)));
    }
    NumberText text = FormatInteger(integer, format);
    const auto precision = static_cast<size_t>(std::max(directive.precision, 0));
    if (text.digits.size() < precision) text.digits.insert(0, precision - text.digits.size(), '0');
    return text;
  }

  static NumberText Float(const Value& value, const Directive& directive) {
    RequireDefined(value);
    if (!value.IsNumber()) Fail(fmt::format("must be real number, not {}", TypeName(value)));
    NumberFormat format = directive.number;
    format.type = directive.type;
    format.precision = directive.precision < 0 ? 6 : directive.precision;
    return FormatFloat(value.number(), format);
  }

  void Pad(const NumberText& text, const Directive& directive) {
    const size_t used = CountCharacters(text.sign) + CountCharacters(text.digits);
    const size_t fill = static_cast<size_t>(directive.width) > used ? static_cast<size_t>(directive.width) - used : 0;
    const bool textual = std::string_view("srac").find(directive.type) != std::string_view::npos;
    const bool zeros = directive.zero && !directive.left && !textual;
    if (!zeros && !directive.left) result_.append(fill, ' ');
    Append(result_, text.sign);
    if (zeros) result_.append(fill, '0');
    Append(result_, text.digits);
    if (directive.left) result_.append(fill, ' ');
  }

  std::string_view format_;
  const Value& values_;
  size_t at_ = 0;
  size_t next_ = 0;
  std::string result_;
};

}  // namespace

Value PercentFormat(const Value& format, const Value& values) {
  return Value::Of(Formatter(format.text(), values).Run(), format.markup());
}

}  // namespace ekvi::jinja
