// Filters of numbers.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "jinja/bound.h"
#include "jinja/failure.h"
#include "jinja/filters.h"
#include "jinja/number_format.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

// Of no locale.
bool IsAsciiAlnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Underscores between digits go; nothing where one stands elsewhere.
std::optional<std::string> WithoutUnderscores(std::string_view text) {
  Step(text.size());
  std::string result;
  const auto alnum = [&](size_t at) { return at < text.size() && IsAsciiAlnum(text[at]); };
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '_') {
      result += text[at];
    } else if (at == 0 || !alnum(at - 1) || !alnum(at + 1)) {
      return std::nullopt;
    }
  }
  return result;
}

// int(text, base), nothing where Python would not take it.
std::optional<int64_t> ParseInteger(std::string_view whole, int64_t base) {
  auto text = WithoutUnderscores(Strip(whole));
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const auto prefix = [&](char letter, int64_t of) {
    const bool has = rest.size() > 2 && rest[0] == '0' && (rest[1] | 0x20) == letter && (base == 0 || base == of);
    if (!has) return;
    rest.remove_prefix(2);
    base = of;
  };
  prefix('x', 16);
  prefix('o', 8);
  prefix('b', 2);
  if (base == 0) base = 10;
  if (base < 2 || base > 36) Fail("int() base must be >= 2 and <= 36, or 0");
  if (rest.empty() || rest[0] == '-') return std::nullopt;
  const std::string signed_text = (negative ? "-" : "") + std::string(rest);
  int64_t result = 0;
  const char* end = signed_text.data() + signed_text.size();
  const auto [stop, error] = std::from_chars(signed_text.data(), end, result, static_cast<int>(base));
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error != std::errc{}) Refuse(fmt::format("the integer {} does not fit 64 bits", signed_text.substr(0, 40)));
  return result;
}

// float(text), nothing where Python would not take it.
std::optional<double> ParseFloat(std::string_view whole) {
  const auto text = WithoutUnderscores(Strip(whole));
  if (!text || text->empty()) return std::nullopt;
  if (text->find_first_of("xXpP(") != std::string::npos) return std::nullopt;  // strtod takes more than Python
  char* end = nullptr;
  const double result = ReadDouble(*text, &end);
  if (end != text->c_str() + text->size() || IsSpace(static_cast<unsigned char>(text->front()))) {
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> Truncated(double number) {
  if (!std::isfinite(number)) return std::nullopt;
  if (std::abs(number) >= 0x1p63) Refuse("an integer does not fit 64 bits");
  return static_cast<int64_t>(number);
}

std::optional<int64_t> IntegerOf(const Value& input, int64_t base) {
  if (input.IsIntegral()) return input.integer();
  if (input.IsFloat()) return Truncated(input.number());
  if (!input.IsText()) return std::nullopt;
  if (auto integer = ParseInteger(input.text(), base)) return integer;
  const auto number = ParseFloat(input.text());
  return number ? Truncated(*number) : std::nullopt;
}

Value Int(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("int", arguments, {"default", "base"});
  RequireDefined(input);
  const auto integer = IntegerOf(input, bound.Integer(1, 10));
  return integer ? Value::Of(*integer) : bound.Or(0, Value::Of(int64_t{0}));
}

Value Float(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("float", arguments, {"default"});
  RequireDefined(input);
  if (input.IsNumber()) return Value::Of(input.number());
  const auto number = input.IsText() ? ParseFloat(input.text()) : std::nullopt;
  return number ? Value::Of(*number) : bound.Or(0, Value::Of(0.0));
}

Value Abs(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("abs", arguments, {});
  RequireDefined(input);
  if (input.IsIntegral()) return input.integer() < 0 ? Negate(input) : Value::Of(input.integer());
  if (input.IsFloat()) return Value::Of(std::abs(input.number()));
  Fail(fmt::format("bad operand type for abs(): '{}'", TypeName(input)));
}

// Python's round: the decimal that is nearest to the double's exact value, halves to even.
double RoundCommon(double number, int64_t precision) {
  if (!std::isfinite(number) || precision > 400) return number;
  if (number != 0) Step(static_cast<uint64_t>(std::max<int64_t>(precision, 0) + std::max(std::ilogb(number), 0)));
  if (precision >= 0) return ReadDouble(fmt::format("{:.{}f}", number, precision));
  if (precision < -400) return std::copysign(0.0, number);
  const double scale = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(number / scale) * scale;
}

Value RoundInteger(int64_t number, int64_t precision) {
  if (precision >= 0) return Value::Of(number);
  if (precision < -18) return Value::Of(int64_t{0});
  int64_t scale = 1;
  for (int64_t i = precision; i < 0; ++i) scale *= 10;
  const int64_t rest = ((number % scale) + scale) % scale;
  const __int128 down = static_cast<__int128>(number) - rest;
  const bool up = rest * 2 > scale || (rest * 2 == scale && (down / scale) % 2 != 0);
  const __int128 rounded = up ? down + scale : down;
  if (rounded < INT64_MIN || rounded > INT64_MAX) Refuse("an integer does not fit 64 bits");
  return Value::Of(static_cast<int64_t>(rounded));
}

Value Round(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("round", arguments, {"precision", "method"});
  RequireDefined(input);
  if (!input.IsNumber()) Fail(fmt::format("type {} doesn't define __round__ method", TypeName(input)));
  const int64_t precision = bound.Integer(0, 0);
  const std::string method = bound.Text(1, "common");
  if (method == "common") {
    return input.IsIntegral() ? RoundInteger(input.integer(), precision)
                              : Value::Of(RoundCommon(input.number(), precision));
  }
  if (method != "ceil" && method != "floor") Fail("method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = input.number() * scale;
  return Value::Of((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value FileSize(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("filesizeformat", arguments, {"binary"});
  const auto text_number = input.IsText() ? ParseFloat(input.text()) : std::nullopt;
  if (!input.IsNumber() && !text_number) Fail("filesizeformat wants a number");
  const double bytes = text_number ? *text_number : input.number();
  const bool binary = bound.Flag(0, false);
  const double base = binary ? 1024 : 1000;
  if (bytes == 1) return Value::Of("1 Byte");
  if (bytes < base) {
    const auto whole = Truncated(bytes);
    if (!whole) Fail("filesizeformat wants a finite number");
    return Value::Of(fmt::format("{} Bytes", *whole));
  }
  static constexpr std::string_view kPrefixes = "KMGTPEZY";
  double unit = base;
  for (const char prefix : kPrefixes) {
    unit *= base;
    if (bytes >= unit && prefix != 'Y') continue;
    const std::string name = binary ? fmt::format("{}iB", prefix) : fmt::format("{}B", prefix == 'K' ? 'k' : prefix);
    return Value::Of(fmt::format("{:.1f} {}", base * bytes / unit, name));
  }
  return {};
}

constexpr FilterEntry kFilters[] = {
    {"abs", Abs}, {"filesizeformat", FileSize}, {"float", Float}, {"int", Int}, {"round", Round},
};

}  // namespace

std::span<const FilterEntry> NumberFilters() { return kFilters; }

}  // namespace ekvi::jinja
