#include "jinja/repr.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "jinja/dict.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

void AppendRepr(std::string& result, const Value& value);

void AppendItems(std::string& result, const Items& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) result += ", ";
    AppendRepr(result, items[i]);
  }
}

void AppendSequence(std::string& result, const Value& value) {
  const Value::Sequence& sequence = value.sequence();
  switch (sequence.type) {
    case Value::SequenceType::kRange:
      result += sequence.label;
      return;
    case Value::SequenceType::kTuple:
      result += '(';
      AppendItems(result, sequence.items);
      result += sequence.items.size() == 1 ? ",)" : ")";
      return;
    case Value::SequenceType::kList:
      result += '[';
      AppendItems(result, sequence.items);
      result += ']';
      return;
    default:
      result += TypeName(value) + "([";
      AppendItems(result, sequence.items);
      result += "])";
  }
}

void AppendDict(std::string& result, const Dict& dict) {
  result += '{';
  const char* separator = "";
  for (const auto& [key, value] : dict.entries()) {
    result += separator;
    AppendRepr(result, key);
    result += ": ";
    AppendRepr(result, value);
    separator = ", ";
  }
  result += '}';
}

void AppendRepr(std::string& result, const Value& value) {
  Step();
  CheckText(result.size());
  if (value.IsText()) {
    const std::string text = ReprText(value.text());
    Append(result, value.markup() ? fmt::format("Markup({})", text) : text);
  } else if (value.IsSequence()) {
    AppendSequence(result, value);
  } else if (value.IsDict()) {
    AppendDict(result, value.dict());
  } else {
    Append(result, Repr(value));
  }
}

void AppendEscaped(std::string& result, char32_t code, std::string_view character) {
  if (code == '\n') {
    result += "\\n";
  } else if (code == '\r') {
    result += "\\r";
  } else if (code == '\t') {
    result += "\\t";
  } else if (IsPrintable(code)) {
    result += character;
  } else if (Step(4); code < 0x100) {
    result += fmt::format("\\x{:02x}", static_cast<uint32_t>(code));
  } else if (code < 0x10000) {
    result += fmt::format("\\u{:04x}", static_cast<uint32_t>(code));
  } else {
    result += fmt::format("\\U{:08x}", static_cast<uint32_t>(code));
  }
}

// Where the decimal point goes: Python writes an exponent below 1e-4 and from 1e16 on.
std::string Fixed(std::string digits, int exponent) {
  const int count = static_cast<int>(digits.size());
  if (exponent < 0) return "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (exponent + 1 >= count) return digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  return digits.insert(static_cast<size_t>(exponent) + 1, ".");
}

}  // namespace

void Append(std::string& result, std::string_view text) {
  StepBytes(text.size());
  CheckText(result.size() + text.size());
  result += text;
}

std::string ReprText(std::string_view text) {
  Step(text.size());
  const bool single = text.find('\'') == std::string_view::npos || text.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  std::string result(1, quote);
  for (size_t at = 0; at < text.size();) {
    const Character head = FirstCharacter(text.substr(at));
    if (head.code == static_cast<unsigned char>(quote) || head.code == '\\') result += '\\';
    AppendEscaped(result, head.code, text.substr(at, head.bytes));
    at += head.bytes;
  }
  return result += quote;
}

std::string ReprFloat(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), std::abs(number), std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));  // d.ddde±xx
  const size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  if (digits.size() > 1) digits.erase(1, 1);
  const int exponent = std::stoi(std::string(text.substr(e + 1)));
  const std::string sign = std::signbit(number) ? "-" : "";
  if (exponent >= -4 && exponent < 16) return sign + Fixed(digits, exponent);
  if (digits.size() > 1) digits.insert(1, ".");
  return fmt::format("{}{}e{}{:02}", sign, digits, exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string Repr(const Value& value) {
  if (value.IsUndefined()) return "Undefined";
  if (value.IsNone()) return "None";
  if (value.IsBool()) return value.boolean() ? "True" : "False";
  if (value.IsInt()) return std::to_string(value.integer());
  if (value.IsFloat()) return ReprFloat(value.number());
  if (value.IsIterator()) return fmt::format("<{} object>", value.iterator().type);
  if (value.IsObject()) return value.object().Repr();
  std::string result;
  AppendRepr(result, value);
  return result;
}

std::string Str(const Value& value) {
  if (value.IsText()) return value.text();
  return value.IsUndefined() ? "" : Repr(value);
}

}  // namespace ekvi::jinja
