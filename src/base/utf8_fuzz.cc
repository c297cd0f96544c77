// What must hold: whatever the bytes, a stream's text is valid, does not depend on the cuts, and is the bytes
// themselves where those are valid; characters come back from both ends.
#include "base/utf8.h"
#include "fuzzing.h"

namespace ekvi::fuzzing {
namespace {

// In portions of `portion` bytes.
std::string Streamed(std::string_view bytes, size_t portion) {
  base::Utf8Stream stream;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += portion) stream.Push(bytes.substr(at, portion), text);
  stream.Finish(text);
  return text;
}

void CheckCharacters(std::string_view text) {
  std::string forwards, backwards;
  for (std::string_view rest = text; !rest.empty();) {
    const base::Character first = base::FirstCharacter(rest);
    base::AppendCharacter(first.code, forwards);
    rest.remove_prefix(first.bytes);
  }
  for (std::string_view rest = text; !rest.empty();) {
    const base::Character last = base::LastCharacter(rest);
    rest.remove_suffix(last.bytes);
    std::string character;
    base::AppendCharacter(last.code, character);
    backwards.insert(0, character);
  }
  EKVI_CHECK(forwards == text);
  EKVI_CHECK(backwards == text);
}

}  // namespace

void TryInput(std::string_view input) {
  if (input.empty()) return;
  const std::string_view bytes = input.substr(1);
  const std::string whole = Streamed(bytes, bytes.size() + 1);
  EKVI_CHECK(base::IsUtf8(whole));
  EKVI_CHECK(Streamed(bytes, 1) == whole);
  EKVI_CHECK(Streamed(bytes, 1 + static_cast<unsigned char>(input[0]) % 7) == whole);
  const size_t valid = base::ValidUtf8Prefix(bytes);
  EKVI_CHECK_OP(<=, valid, bytes.size());
  EKVI_CHECK((valid == bytes.size()) == base::IsUtf8(bytes));
  EKVI_CHECK(whole.substr(0, valid) == bytes.substr(0, valid));
  EKVI_CHECK((whole == bytes) == base::IsUtf8(bytes));
  CheckCharacters(bytes.substr(0, valid));
}

std::vector<std::string> Seeds() {
  return {"0plain",     "1h\u00E9llo \u65E5\u672C \U0001F999", "2\xF0\x9F\xA6", "3\xED\xA0\x80\xED\xB0\x80",
          "4\xC0\x80z", "5\xF4\x90\x80\x80\xFF\x80",           "6\xE2\x82\xE2"};
}

}  // namespace ekvi::fuzzing
