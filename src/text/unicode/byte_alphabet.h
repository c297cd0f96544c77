// The alphabet that byte-level vocabularies are written in: one visible character for each byte. Printable Latin-1 is
// itself, the other 68 bytes are U+0100 and up, in order (GPT-2's encoder.py, bytes_to_unicode).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ekvi::text {

// The character of a byte, in UTF-8: one or two bytes.
std::string_view CharacterOfByte(uint8_t byte);

// The bytes that `piece` writes; nothing where it has a character that is not of the alphabet.
std::optional<std::string> BytesOfPiece(std::string_view piece);

// Whether `piece` writes exactly `bytes`.
bool IsAlphabetOf(std::string_view piece, std::string_view bytes);

// Appends the characters of `bytes`.
void AppendAsAlphabet(std::string_view bytes, std::string& text);

}  // namespace ekvi::text
