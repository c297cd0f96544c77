// The parts of an error often quote bytes from files and arguments. What is no text is written as \xNN, so that no
// input can break the one-line promise, steer a terminal, or make an error something that JSON cannot hold.
#include "ekvi/error.h"

#include <string_view>

#include "base/check.h"
#include "base/utf8.h"

namespace ekvi {
namespace {

enum class Lines { kOne, kMany };

// C0 and C1 controls and DEL; those of C1 begin with C2 and end below A0.
bool IsControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]), last = static_cast<unsigned char>(character.back());
  return first < 0x20 || first == 0x7F || (first == 0xC2 && last < 0xA0);
}

std::string Printable(std::string_view text, Lines lines) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const base::Utf8Head head = base::ReadUtf8Head(text);
    const std::string_view part = text.substr(0, head.bytes);
    if (part == "\n" && lines == Lines::kMany) {
      result += "\n  ";
    } else if (head.kind == base::Utf8Kind::kCharacter && !IsControl(part)) {
      result += part;
    } else {
      for (const char c : part) result += {'\\', 'x', kHex[(c >> 4) & 15], kHex[c & 15]};
    }
    text.remove_prefix(part.size());
  }
  return result;
}

}  // namespace

Error::Error(ErrorCode code, std::string what, std::string numbers, std::string hint)
    : code_(code),
      summary_(Printable(what, Lines::kOne)),
      numbers_(Printable(numbers, Lines::kMany)),
      hint_(Printable(hint, Lines::kMany)) {
  EKVI_CHECK(!summary_.empty());
  text_ = summary_;
  if (!numbers_.empty()) text_ += "\n  " + numbers_;
  if (!hint_.empty()) text_ += "\n  try: " + hint_;
}

}  // namespace ekvi
