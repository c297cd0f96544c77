// UTF-8 as the Unicode Standard defines it (version 15, table 3-7): one classification of a sequence's head, characters
// of valid text, and a stream that turns any bytes, in any portions, into valid text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ekvi::base {

// U+FFFD, which stands for bytes that are no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

enum class Utf8Kind {
  kCharacter,  // a whole character
  kCut,        // all of the text: the beginning of a character, whose end may still come
  kBroken,     // a maximal subpart that no further byte can turn into a character
};

struct Utf8Head {
  Utf8Kind kind;
  size_t bytes;  // 1 … 4
};

// What `text` begins with; `text` is not empty.
Utf8Head ReadUtf8Head(std::string_view text);

bool IsUtf8(std::string_view text);

// Bytes of the longest prefix of `text` that is whole characters; text.size() where all of it is.
size_t ValidUtf8Prefix(std::string_view text);

// Whether a byte is one behind the first of a character.
constexpr bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

struct Character {
  char32_t code;
  size_t bytes;  // 1 … 4
};

// What `text`, not empty and valid, begins and ends with. Any other text that is not empty gives some code, and no more
// bytes than there are.
Character FirstCharacter(std::string_view text);
Character LastCharacter(std::string_view text);

// Appends a character; `code` is a Unicode scalar value.
void AppendCharacter(char32_t code, std::string& text);

// Valid text out of bytes that come in portions: a character comes out once its last byte is in, each maximal subpart
// of broken bytes as one U+FFFD (the practice that the standard recommends in section 3.9). The text does not depend on
// how the bytes were cut. Holds at most 3 bytes.
class Utf8Stream {
 public:
  // Appends the text that `bytes` complete to `text`.
  void Push(std::string_view bytes, std::string& text);
  // Ends the text: what is still held is one U+FFFD. The stream is then as new.
  void Finish(std::string& text);

 private:
  std::string held_;
};

}  // namespace ekvi::base
