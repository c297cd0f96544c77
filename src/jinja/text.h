// Python's view of text: characters are code points, blanks and letters are Unicode's. Texts are valid UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"

namespace ekvi::jinja {

using base::AppendCharacter;
using base::Character;
using base::FirstCharacter;
using base::LastCharacter;

size_t CountCharacters(std::string_view text);
// Where character `index` begins; text.size() where there are not that many.
size_t CharacterOffset(std::string_view text, size_t index);
std::vector<std::string_view> Characters(std::string_view text);

// str.isspace and so on, of one character.
bool IsSpace(char32_t code);
bool IsPrintable(char32_t code);
bool IsAlpha(char32_t code);
bool IsDecimal(char32_t code);
bool IsNumeric(char32_t code);  // decimal, digit or any number
bool IsUpper(char32_t code);
bool IsLower(char32_t code);
bool IsTitle(char32_t code);

std::string Upper(std::string_view text);
std::string Lower(std::string_view text);
std::string Capitalize(std::string_view text);
std::string Title(std::string_view text);  // str.title
std::string SwapCase(std::string_view text);

// std::string_view::find and rfind in time that grows with the sum of the lengths, not with their product.
size_t Find(std::string_view text, std::string_view part, size_t from = 0);
size_t FindLast(std::string_view text, std::string_view part);

// Without the blanks (or, where `chars` is given, any of its characters) at its ends.
enum class Side { kLeft, kRight, kBoth };
std::string_view Strip(std::string_view text, Side side = Side::kBoth, const std::string_view* chars = nullptr);

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to, int64_t count = -1);
// str.splitlines.
std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends);

}  // namespace ekvi::jinja
