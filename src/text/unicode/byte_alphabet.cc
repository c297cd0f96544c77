#include "text/unicode/byte_alphabet.h"

#include <array>

namespace ekvi::text {
namespace {

struct Alphabet {
  std::array<std::array<char, 2>, 256> characters{};
  std::array<uint8_t, 256> sizes{};
  std::array<int16_t, 0x144> bytes{};  // by code point; -1: none
};

constexpr bool IsItself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr Alphabet MakeAlphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.bytes) byte = -1;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const int code = IsItself(byte) ? byte : next++;
    alphabet.bytes[code] = static_cast<int16_t>(byte);
    if (code < 0x80) {
      alphabet.characters[byte] = {static_cast<char>(code), 0};
      alphabet.sizes[byte] = 1;
    } else {
      alphabet.characters[byte] = {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
      alphabet.sizes[byte] = 2;
    }
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = MakeAlphabet();

}  // namespace

std::string_view CharacterOfByte(uint8_t byte) { return {kAlphabet.characters[byte].data(), kAlphabet.sizes[byte]}; }

std::optional<std::string> BytesOfPiece(std::string_view piece) {
  std::string bytes;
  for (size_t at = 0; at < piece.size();) {
    const auto head = static_cast<unsigned char>(piece[at]);
    size_t code = head;
    if (head >= 0x80) {
      const bool pair = (head & 0xE0) == 0xC0 && at + 1 < piece.size() && (piece[at + 1] & 0xC0) == 0x80;
      if (!pair) return std::nullopt;
      code = (head & 0x1Fu) << 6 | (static_cast<unsigned char>(piece[at + 1]) & 0x3Fu);
    }
    if (code >= kAlphabet.bytes.size() || kAlphabet.bytes[code] < 0) return std::nullopt;
    bytes += static_cast<char>(kAlphabet.bytes[code]);
    at += head < 0x80 ? 1 : 2;
  }
  return bytes;
}

bool IsAlphabetOf(std::string_view piece, std::string_view bytes) {
  for (const char c : bytes) {
    const std::string_view character = CharacterOfByte(static_cast<uint8_t>(c));
    if (!piece.starts_with(character)) return false;
    piece.remove_prefix(character.size());
  }
  return piece.empty();
}

void AppendAsAlphabet(std::string_view bytes, std::string& text) {
  for (const char c : bytes) text += CharacterOfByte(static_cast<uint8_t>(c));
}

}  // namespace ekvi::text
