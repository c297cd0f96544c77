// Numbers and foreign text as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace ekvi::cli {

// "9,312".
std::string Count(int64_t value);
// "9,312 tokens", "1 token".
std::string CountOf(int64_t value, std::string_view noun);
// Three digits and a binary unit: "512 B", "1.76 MiB", "180 MiB".
std::string Bytes(uint64_t bytes);
// Two digits below ten, else whole: "5.6 ms", "38 ms", "1.2 s".
std::string Duration(int64_t nanoseconds);
// Three digits: "1.92", "19.2", "192".
std::string Rate(double value);
// Shortest decimal that reads back as the same double; "nan", "inf".
std::string Number(double value);

// An error and what it may be, with at least four digits and as many more as show which is larger.
std::pair<std::string, std::string> Against(double error, double tolerance);

// Control characters, C1 controls and bytes that are not UTF-8 as \xNN, so that no input can steer a terminal. Line
// feeds may stay.
enum class Lines { kEscape, kKeep };
std::string Printable(std::string_view text, Lines lines = Lines::kEscape);
bool IsUtf8(std::string_view text);
// Whether a byte is one behind the first of a character.
constexpr bool ContinuesCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }
// Printable, in single quotes, cut to 60 bytes with "…".
std::string Quoted(std::string_view text);
// Columns a terminal needs: code points, since nothing printed here is wider or narrower than one.
int DisplayWidth(std::string_view text);

}  // namespace ekvi::cli
