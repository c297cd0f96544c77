#include "jinja/text.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>

#include "jinja/meter.h"

namespace ekvi::jinja {
namespace {

utf8proc_category_t Category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

// Upper and title case of the characters that become several, from SpecialCasing.txt of Unicode.
struct Special {
  char32_t code;
  std::string_view upper, title;
};
constexpr Special kSpecial[] = {
    {0x00DF, "SS", "Ss"},
    {0x0149, "ʼN", "ʼN"},
    {0x01F0, "J\u030C", "J\u030C"},
    {0x0390, "\u03AA\u0301", "\u03AA\u0301"},
    {0x03B0, "\u03AB\u0301", "\u03AB\u0301"},
    {0x0587, "ԵՒ", "Եւ"},
    {0x1E96, "H\u0331", "H\u0331"},
    {0x1E97, "T\u0308", "T\u0308"},
    {0x1E98, "W\u030A", "W\u030A"},
    {0x1E99, "Y\u030A", "Y\u030A"},
    {0x1E9A, "Aʾ", "Aʾ"},
    {0xFB00, "FF", "Ff"},
    {0xFB01, "FI", "Fi"},
    {0xFB02, "FL", "Fl"},
    {0xFB03, "FFI", "Ffi"},
    {0xFB04, "FFL", "Ffl"},
    {0xFB05, "ST", "St"},
    {0xFB06, "ST", "St"},
};

const Special* FindSpecial(char32_t code) {
  if (code < 0xDF) return nullptr;
  const auto* found = std::find_if(std::begin(kSpecial), std::end(kSpecial),
                                   [&](const Special& special) { return special.code == code; });
  return found == std::end(kSpecial) ? nullptr : found;
}

void AppendUpper(std::string& text, char32_t code) {
  if (const Special* special = FindSpecial(code)) {
    text += special->upper;
  } else {
    AppendCharacter(static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))), text);
  }
}

void AppendTitle(std::string& text, char32_t code) {
  if (const Special* special = FindSpecial(code)) {
    text += special->title;
  } else {
    AppendCharacter(static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))), text);
  }
}

void AppendLower(std::string& text, char32_t code) {
  if (code == 0x130) {
    text += "i̇";
  } else {
    AppendCharacter(static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), text);
  }
}

// A sigma at the end of a word has its own small form: a cased letter stands before it and none after.
constexpr char32_t kSigma = 0x3A3;
bool IsCased(char32_t code) { return IsUpper(code) || IsLower(code) || IsTitle(code); }

bool EndsWord(std::string_view before, std::string_view after) {
  if (before.empty() || !IsCased(LastCharacter(before).code)) return false;
  return after.empty() || !IsCased(FirstCharacter(after).code);
}

void AppendLowerAt(std::string& result, std::string_view text, size_t at, Character head) {
  if (head.code == kSigma && EndsWord(text.substr(0, at), text.substr(at + head.bytes))) {
    result += "ς";
  } else {
    AppendLower(result, head.code);
  }
}

// append(result, offset, character) for each character.
template <typename Append>
std::string MapCharacters(std::string_view text, Append append) {
  Step(text.size());
  std::string result;
  result.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character head = FirstCharacter(text.substr(at));
    append(result, at, head);
    at += head.bytes;
  }
  return result;
}

bool HasCharacter(std::string_view chars, std::string_view character) {
  return chars.find(character) != std::string_view::npos;
}

bool IsStripped(std::string_view character, char32_t code, const std::string_view* chars) {
  if (chars == nullptr) return IsSpace(code);
  StepBytes(chars->size());
  return HasCharacter(*chars, character);
}

size_t LineEnd(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == '\r') return at + 1 < text.size() && text[at + 1] == '\n' ? 2 : 1;
  if ((byte >= 0x0A && byte <= 0x0C) || (byte >= 0x1C && byte <= 0x1E)) return 1;
  if (text.substr(at, 2) == "\xC2\x85") return 2;
  if (text.substr(at, 3) == "\xE2\x80\xA8" || text.substr(at, 3) == "\xE2\x80\xA9") return 3;
  return 0;
}

}  // namespace

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char byte : text) count += base::ContinuesCharacter(byte) ? 0 : 1;
  return count;
}

size_t CharacterOffset(std::string_view text, size_t index) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (!base::ContinuesCharacter(text[at]) && index-- == 0) return at;
  }
  return text.size();
}

std::vector<std::string_view> Characters(std::string_view text) {
  Step(text.size() * 8);  // each becomes a value
  std::vector<std::string_view> characters;
  for (size_t at = 0; at < text.size();) {
    const size_t bytes = FirstCharacter(text.substr(at)).bytes;
    characters.push_back(text.substr(at, bytes));
    at += bytes;
  }
  return characters;
}

bool IsSpace(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13) || (code >= 0x1C && code <= 0x1F);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool IsPrintable(char32_t code) {
  if (code < 0x80) return code >= 0x20 && code != 0x7F;
  switch (Category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

bool IsAlpha(char32_t code) {
  const utf8proc_category_t category = Category(code);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool IsDecimal(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_ND; }
bool IsNumeric(char32_t code) {
  const utf8proc_category_t category = Category(code);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}
bool IsUpper(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_LU; }
bool IsLower(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_LL || code == 0xAA || code == 0xBA; }
bool IsTitle(char32_t code) { return Category(code) == UTF8PROC_CATEGORY_LT; }

std::string Upper(std::string_view text) {
  return MapCharacters(text, [](std::string& result, size_t, Character head) { AppendUpper(result, head.code); });
}

std::string Lower(std::string_view text) {
  return MapCharacters(text,
                       [&](std::string& result, size_t at, Character head) { AppendLowerAt(result, text, at, head); });
}

std::string Capitalize(std::string_view text) {
  return MapCharacters(text, [&](std::string& result, size_t at, Character head) {
    at == 0 ? AppendTitle(result, head.code) : AppendLowerAt(result, text, at, head);
  });
}

std::string Title(std::string_view text) {
  bool in_word = false;
  return MapCharacters(text, [&](std::string& result, size_t at, Character head) {
    in_word ? AppendLowerAt(result, text, at, head) : AppendTitle(result, head.code);
    in_word = IsCased(head.code);
  });
}

std::string SwapCase(std::string_view text) {
  return MapCharacters(text, [&](std::string& result, size_t at, Character head) {
    IsUpper(head.code) ? AppendLowerAt(result, text, at, head) : AppendUpper(result, head.code);
  });
}

size_t Find(std::string_view text, std::string_view part, size_t from) {
  if (from > text.size()) return std::string_view::npos;
  const size_t most = text.size() - from;
  Step(part.size() / 8);
  const void* found = ::memmem(text.data() + from, most, part.data(), part.size());
  const size_t at = found == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  Step((at - from) / 8);  // what was looked at
  return found == nullptr ? std::string_view::npos : at;
}

size_t FindLast(std::string_view text, std::string_view part) {
  Step(text.size() / 16);
  const std::string backward(text.rbegin(), text.rend());
  const size_t found = Find(backward, std::string(part.rbegin(), part.rend()));
  return found == std::string_view::npos ? found : text.size() - found - part.size();
}

std::string_view Strip(std::string_view text, Side side, const std::string_view* chars) {
  while (side != Side::kRight && !text.empty()) {
    const Character head = FirstCharacter(text);
    if (!IsStripped(text.substr(0, head.bytes), head.code, chars)) break;
    text.remove_prefix(head.bytes);
  }
  while (side != Side::kLeft && !text.empty()) {
    const Character last = LastCharacter(text);
    if (!IsStripped(text.substr(text.size() - last.bytes), last.code, chars)) break;
    text.remove_suffix(last.bytes);
  }
  return text;
}

std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to, int64_t count) {
  StepBytes(text.size());
  std::string result;
  size_t at = 0;
  const auto room = [&] {
    StepBytes(to.size());
    CheckText(result.size() + to.size() + text.size() - at);
    return count-- != 0;
  };
  if (from.empty()) {  // Python puts `to` before every character and at the end
    while (room()) {
      result += to;
      if (at == text.size()) return result;
      const size_t bytes = FirstCharacter(text.substr(at)).bytes;
      result += text.substr(at, bytes);
      at += bytes;
    }
    return result += text.substr(at);
  }
  for (size_t found; (found = Find(text, from, at)) != std::string_view::npos && room(); at = found + from.size()) {
    result.append(text, at, found - at) += to;
  }
  return result += text.substr(at);
}

std::vector<std::string_view> SplitLines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  Step(text.size() / 2);
  for (size_t at = 0; at < text.size();) {
    const size_t end = LineEnd(text, at);
    if (end > 0) {
      Step(8);  // each becomes a value
      lines.push_back(text.substr(begin, at + (keep_ends ? end : 0) - begin));
      begin = at + end;
    }
    at += std::max<size_t>(end, 1);
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

}  // namespace ekvi::jinja
