#include "jinja/number_format.h"

#include <fmt/format.h>
#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <cmath>

#include "jinja/failure.h"
#include "jinja/repr.h"

namespace ekvi::jinja {
namespace {

std::string Grouped(const std::string& digits, char separator, size_t size) {
  if (separator == 0) return digits;
  const size_t end = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
  std::string result;
  for (size_t i = 0; i < end; ++i) {
    if (i > 0 && (end - i) % size == 0) result += separator;
    result += digits[i];
  }
  return result + digits.substr(end);
}

std::string SignOf(bool negative, char sign) {
  if (negative) return "-";
  return sign == '-' ? "" : std::string(1, sign);
}

// Exact digits cost by their number: those asked for, and before the point one a power of ten.
void StepDigits(double value, int precision) {
  const int before = std::isfinite(value) ? std::max(std::ilogb(value), 0) / 3 : 0;
  Step(static_cast<uint64_t>(std::max(precision, 0) + before));
}

std::string FiniteDigits(double value, char type, const NumberFormat& format) {
  const int precision = format.precision < 0 ? 6 : format.precision;
  StepDigits(value, precision);
  switch (type) {
    case 'e':
      return format.alternate ? fmt::format("{:#.{}e}", value, precision) : fmt::format("{:.{}e}", value, precision);
    case 'f':
      return format.alternate ? fmt::format("{:#.{}f}", value, precision) : fmt::format("{:.{}f}", value, precision);
    default: {
      const int digits = std::max(precision, 1);
      return format.alternate ? fmt::format("{:#.{}g}", value, digits) : fmt::format("{:.{}g}", value, digits);
    }
  }
}

// Without a type, a precision means g, but a whole number keeps its ".0".
std::string PlainDigits(double value, const NumberFormat& format) {
  if (format.precision < 0) return ReprFloat(value);
  const int precision = std::max(format.precision, 1);
  StepDigits(value, precision);
  std::string digits = fmt::format("{:.{}g}", value, precision);
  if (digits.find_first_of(".e") != std::string::npos) return digits;
  if (static_cast<int>(digits.size()) < precision) return digits + ".0";
  return precision == static_cast<int>(digits.size()) ? fmt::format("{:.{}e}", value, precision - 1) : digits;
}

}  // namespace

NumberText FormatInteger(int64_t value, const NumberFormat& format) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  NumberText text{.sign = SignOf(value < 0, format.sign)};
  switch (format.type) {
    case 'b':
      text.digits = fmt::format("{:b}", magnitude);
      break;
    case 'o':
      text.digits = fmt::format("{:o}", magnitude);
      break;
    case 'x':
      text.digits = fmt::format("{:x}", magnitude);
      break;
    case 'X':
      text.digits = fmt::format("{:X}", magnitude);
      break;
    default:
      text.digits = std::to_string(magnitude);
  }
  const bool decimal = text.digits.empty() || format.type == 'd' || format.type == 'n' || format.type == 0;
  if (format.alternate && !decimal) text.sign += std::string{'0', format.type};
  text.digits = Grouped(text.digits, format.grouping, decimal ? 3 : 4);
  return text;
}

NumberText FormatFloat(double value, const NumberFormat& format) {
  const bool upper = format.type == 'E' || format.type == 'F' || format.type == 'G';
  const bool percent = format.type == '%';
  const char type = upper                ? static_cast<char>(format.type + 32)
                    : percent            ? 'f'
                    : format.type == 'n' ? 'g'
                                         : format.type;
  NumberText text{.sign = SignOf(std::signbit(value) && !std::isnan(value), format.sign)};
  const double magnitude = std::abs(percent ? value * 100 : value);
  if (!std::isfinite(magnitude)) {
    text.digits = std::isnan(magnitude) ? "nan" : "inf";
  } else {
    text.digits = type == 0 ? PlainDigits(magnitude, format) : FiniteDigits(magnitude, type, format);
    text.digits = Grouped(text.digits, format.grouping, 3);
  }
  if (percent) text.digits += '%';
  if (upper) std::transform(text.digits.begin(), text.digits.end(), text.digits.begin(), ::toupper);
  return text;
}

std::optional<int> ReadWidth(std::string_view text, size_t& at) {
  int64_t width = 0;
  const size_t begin = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    width = width * 10 + (text[at] - '0');
    if (width > kMaxFormatWidth) Refuse(fmt::format("a width or precision of more than {}", kMaxFormatWidth));
  }
  return at == begin ? std::nullopt : std::optional(static_cast<int>(width));
}

double ReadDouble(const std::string& text, char** end) {
  static const locale_t locale = ::newlocale(LC_ALL_MASK, "C", nullptr);
  return ::strtod_l(text.c_str(), end, locale);
}

}  // namespace ekvi::jinja
