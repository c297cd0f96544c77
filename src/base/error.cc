// The parts of an error often quote bytes from files and arguments: control characters of ASCII are written as \xNN, so
// that no input can break the one-line promise. Programs that print to a terminal escape the rest (C1, broken UTF-8).
#include "ekvi/error.h"

#include <utility>

#include "base/check.h"

namespace ekvi {
namespace {

enum class Lines { kOne, kMany };

std::string Printable(std::string text, Lines lines) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == '\n' && lines == Lines::kMany) {
      result += "\n  ";
    } else if (byte < 0x20 || byte == 0x7F) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

Error::Error(ErrorCode code, std::string what, std::string numbers, std::string hint)
    : code_(code),
      summary_(Printable(std::move(what), Lines::kOne)),
      numbers_(Printable(std::move(numbers), Lines::kMany)),
      hint_(Printable(std::move(hint), Lines::kMany)) {
  EKVI_CHECK(!summary_.empty());
  text_ = summary_;
  if (!numbers_.empty()) text_ += "\n  " + numbers_;
  if (!hint_.empty()) text_ += "\n  try: " + hint_;
}

}  // namespace ekvi
