#include "base/system_text.h"

#include <charconv>
#include <fstream>

namespace ekvi::base {

std::optional<std::string> ReadSystemText(const std::filesystem::path& path) {
  constexpr size_t kMost = size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  char piece[4096];
  while (text.size() < kMost && (file.read(piece, sizeof(piece)), file.gcount() > 0)) {
    text.append(piece, static_cast<size_t>(file.gcount()));
  }
  return text;
}

std::vector<std::string_view> SplitFields(std::string_view text, char separator) {
  std::vector<std::string_view> fields;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (end != 0) fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return fields;
}

std::optional<uint64_t> LeadingNumber(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const auto result = std::from_chars(text.data() + start, text.data() + text.size(), value);
  return result.ec == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<uint64_t> NumberOfLine(std::string_view text, std::string_view key) {
  for (const std::string_view line : SplitFields(text, '\n')) {
    if (line.starts_with(key)) return LeadingNumber(line.substr(key.size()));
  }
  return std::nullopt;
}

}  // namespace ekvi::base
