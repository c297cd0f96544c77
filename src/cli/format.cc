#include "cli/format.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace ekvi::cli {
namespace {

int DigitsAfterPoint(double value) { return value < 9.995 ? 2 : value < 99.95 ? 1 : 0; }

int SequenceLength(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Bytes of the well-formed UTF-8 character at the front; 0 where there is none (Unicode 15, table 3-7).
int CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const int length = SequenceLength(byte(0));
  if (length == 0 || text.size() < static_cast<size_t>(length)) return 0;
  for (int i = 1; i < length; ++i) {
    if (!ContinuesCharacter(text[i])) return 0;
  }
  if (length == 1) return 1;
  if (byte(0) == 0xE0 && byte(1) < 0xA0) return 0;
  if (byte(0) == 0xED && byte(1) > 0x9F) return 0;
  if (byte(0) == 0xF0 && byte(1) < 0x90) return 0;
  if (byte(0) == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool IsControl(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

std::string Count(int64_t value) {
  std::string digits = std::to_string(value);
  const size_t first = value < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string CountOf(int64_t value, std::string_view noun) {
  return fmt::format("{} {}{}", Count(value), noun, value == 1 ? "" : "s");
}

std::string Bytes(uint64_t bytes) {
  static constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int digits = value == std::floor(value) ? 0 : DigitsAfterPoint(value);
  return fmt::format("{:.{}f} {}", value, digits, kUnits[unit]);
}

std::string Duration(int64_t nanoseconds) {
  static constexpr std::array kUnits = {"ns", "µs", "ms", "s"};
  auto value = static_cast<double>(nanoseconds);
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string Rate(double value) { return fmt::format("{:.{}f}", value, DigitsAfterPoint(value)); }

std::string Number(double value) { return fmt::format("{}", value); }

std::string Printable(std::string_view text, Lines lines) {
  std::string result;
  while (!text.empty()) {
    const int length = CharacterLength(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    const bool kept_line = lines == Lines::kKeep && character == "\n";
    if (length > 0 && (kept_line || !IsControl(character))) {
      result += character;
    } else {
      for (const char byte : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(character.size());
  }
  return result;
}

std::pair<std::string, std::string> Against(double error, double tolerance) {
  for (int digits = 4; digits < 17; ++digits) {
    std::pair<std::string, std::string> shown{fmt::format("{:.{}g}", error, digits),
                                              fmt::format("{:.{}g}", tolerance, digits)};
    const double a = std::strtod(shown.first.c_str(), nullptr), b = std::strtod(shown.second.c_str(), nullptr);
    if ((a <= b) == (error <= tolerance) && (a < b) == (error < tolerance)) return shown;
  }
  return {Number(error), Number(tolerance)};
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const int length = CharacterLength(text);
    if (length == 0) return false;
    text.remove_prefix(static_cast<size_t>(length));
  }
  return true;
}

std::string Quoted(std::string_view text) {
  static constexpr size_t kShown = 60;
  if (text.size() <= kShown) return "'" + Printable(text) + "'";
  size_t end = kShown;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  return "'" + Printable(text.substr(0, end)) + "…'";
}

int DisplayWidth(std::string_view text) {
  int width = 0;
  for (const char byte : text) width += ContinuesCharacter(byte) ? 0 : 1;
  return width;
}

}  // namespace ekvi::cli
