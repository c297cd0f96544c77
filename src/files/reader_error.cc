#include "files/reader_error.h"

#include <utility>

#include "base/utf8.h"

namespace ekvi::files {
namespace {

constexpr size_t kQuotedBytesMax = 80;

void AppendHex(unsigned char byte, std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
}

bool IsControl(unsigned char byte) { return byte < 0x20 || byte == 0x7F; }

}  // namespace

std::string Quote(std::string_view bytes) {
  std::string text = "'";
  size_t at = 0;
  while (at < bytes.size() && at < kQuotedBytesMax) {
    const base::Utf8Head head = base::ReadUtf8Head(bytes.substr(at, 4));
    const std::string_view part = bytes.substr(at, head.bytes);
    // U+0080 … U+009F are controls too; they begin with C2 and end below A0.
    const bool control = IsControl(static_cast<unsigned char>(part[0])) || (part[0] == '\xC2' && part.back() < '\xA0');
    if (head.kind == base::Utf8Kind::kCharacter && !control) {
      text += part;
    } else {
      for (const char c : part) AppendHex(static_cast<unsigned char>(c), text);
    }
    at += head.bytes;
  }
  return text + (at < bytes.size() ? "…'" : "'");
}

std::string Digits(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t place = text.size(); place > 3;) text.insert(place -= 3, 1, ',');
  return text;
}

Error FileError(ErrorCode code, std::string_view file, std::string_view what, std::string numbers, std::string hint) {
  if (hint.empty() && code == ErrorCode::kCorrupt) hint = "copy or download the file again, or convert it again";
  if (hint.empty() && code == ErrorCode::kUnsupported)
    hint = "docs/models.md lists what loads: convert the model to that, or take another";
  std::string summary(file);
  summary += ": ";
  summary += what;
  return Error(code, std::move(summary), std::move(numbers), std::move(hint));
}

}  // namespace ekvi::files
