// One character at a time: the first byte gives the count and the least code point that needs so many bytes.
#include "engine/utf8.h"

#include <cstdint>

namespace ekvi::engine {
namespace {

// Bytes of the character at the front of `text`; 0 where there is none.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < count) return 0;
  uint32_t code = first & (0x7Fu >> count);
  for (size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[count] || code > 0x10FFFF || surrogate ? 0 : count;
}

}  // namespace

size_t ValidUtf8Prefix(std::string_view text) {
  size_t valid = 0;
  while (valid < text.size()) {
    const size_t bytes = CharacterBytes(text.substr(valid));
    if (bytes == 0) break;
    valid += bytes;
  }
  return valid;
}

}  // namespace ekvi::engine
