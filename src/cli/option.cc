#include "cli/option.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "cli/format.h"
#include "cli/suggest.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

std::string Replaced(std::string_view text, char from, char to) {
  std::string result(text);
  std::replace(result.begin(), result.end(), from, to);
  return result;
}

std::string Limit(double value) {
  return std::abs(value) < 1e18 && value == std::floor(value) ? Count(static_cast<int64_t>(value)) : Number(value);
}

std::string Allowed(const Option& option) {
  std::string allowed = Replaced(option.words, '|', ' ');
  for (size_t at = 0; (at = allowed.find(' ', at)) != std::string::npos; at += 2) allowed.replace(at, 1, ", ");
  if (option.kind == ValueKind::kChoice) return allowed;
  if (!allowed.empty()) allowed += ", or ";
  allowed += option.kind == ValueKind::kInteger ? "a whole number" : "a number";
  allowed += fmt::format(" {} {}", option.open ? "above" : "from", Limit(option.minimum));
  if (!std::isinf(option.maximum)) allowed += fmt::format(" to {}", Limit(option.maximum));
  return option.multiple == 1 ? allowed : fmt::format("{}, a multiple of {}", allowed, option.multiple);
}

// A value that it takes, for who does not know what to try.
std::string Example(const Option& option) {
  if (!option.fallback.empty()) return fmt::format("{} {}, the default", LongName(option), option.fallback);
  if (!option.words.empty()) return fmt::format("{} {}", LongName(option), option.words);
  // Above the minimum, where that is none of the values.
  const double value =
      option.open ? std::min(option.minimum + 1, (option.minimum + option.maximum) / 2) : option.minimum;
  return fmt::format("{} {}", LongName(option), Limit(value));
}

[[noreturn]] void Refuse(const Option& option, std::string_view text, std::string_view origin) {
  std::vector<std::string> words;
  for (const std::string_view word : SplitWords(option.words)) words.emplace_back(word);
  const auto meant = Closest(text, words);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: {} is not a value it takes", origin, Quoted(text)),
              "it takes " + Allowed(option), meant ? fmt::format("did you mean {}?", *meant) : Example(option));
}

template <typename T>
bool InRange(const Option& option, std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if constexpr (std::is_integral_v<T>) {
    if (value % option.multiple != 0) return false;
  }
  const auto number = static_cast<double>(value);
  if (!std::isfinite(number)) return false;
  return number >= option.minimum && number <= option.maximum && !(option.open && number == option.minimum);
}

bool IsWord(const Option& option, std::string_view text) {
  const auto words = SplitWords(option.words);
  return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace

std::string LongName(const Option& option) { return "--" + std::string(option.name); }

std::string JsonName(const Option& option) { return Replaced(option.name, '-', '_'); }

std::string EnvironmentName(const Option& option) {
  std::string name = "EKVI_" + JsonName(option);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::string_view ValueName(const Option& option) { return option.value.empty() ? option.words : option.value; }

std::string Spelling(const Option& option) {
  std::string text = option.letter != 0 ? fmt::format("-{}, ", option.letter) : "    ";
  text += LongName(option);
  if (!ValueName(option).empty()) text += fmt::format(" {}", ValueName(option));
  return text;
}

std::vector<std::string_view> SplitWords(std::string_view words) {
  std::vector<std::string_view> parts;
  while (!words.empty()) {
    const size_t bar = std::min(words.find('|'), words.size());
    parts.push_back(words.substr(0, bar));
    words.remove_prefix(std::min(bar + 1, words.size()));
  }
  return parts;
}

void CheckValue(const Option& option, std::string_view text, std::string_view origin) {
  if (!option.planned.empty() && text == option.planned) {
    throw Error(ErrorCode::kUnsupported, fmt::format("{} {} is not there yet", origin, text),
                "this version takes " + Allowed(option), "one of these");
  }
  if (IsWord(option, text)) return;
  switch (option.kind) {
    case ValueKind::kInteger:
      if (!InRange<int64_t>(option, text)) Refuse(option, text, origin);
      return;
    case ValueKind::kNumber:
      if (!InRange<double>(option, text)) Refuse(option, text, origin);
      return;
    case ValueKind::kChoice:
      Refuse(option, text, origin);
    case ValueKind::kFlag:
    case ValueKind::kText:
    case ValueKind::kPath:
      return;
  }
}

}  // namespace ekvi::cli
