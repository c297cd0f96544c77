// A lead byte fixes the length and the range of the second byte; all further bytes are 80 … BF. The narrower second
// ranges (after E0, ED, F0, F4) exclude overlong forms, surrogates and values past U+10FFFF.
#include "base/utf8.h"

#include <cstdint>
#include <cstring>

namespace ekvi::base {
namespace {

struct Lead {
  size_t bytes;  // 0: begins nothing
  unsigned char second_min, second_max;
};

Lead ReadLead(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2 || byte > 0xF4) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte < 0xF0) {
    const unsigned char low = byte == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = byte == 0xED ? 0x9F : 0xBF;
    return {3, low, high};
  }
  const unsigned char low = byte == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = byte == 0xF4 ? 0x8F : 0xBF;
  return {4, low, high};
}

}  // namespace

Utf8Head ReadUtf8Head(std::string_view text) {
  const Lead lead = ReadLead(static_cast<unsigned char>(text[0]));
  if (lead.bytes == 0) return {Utf8Kind::kBroken, 1};
  for (size_t i = 1; i < lead.bytes; ++i) {
    if (i == text.size()) return {Utf8Kind::kCut, i};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = i == 1 ? lead.second_min : 0x80;
    const unsigned char high = i == 1 ? lead.second_max : 0xBF;
    if (byte < low || byte > high) return {Utf8Kind::kBroken, i};
  }
  return {Utf8Kind::kCharacter, lead.bytes};
}

bool IsUtf8(std::string_view text) {
  while (true) {
    uint64_t word;  // eight characters of ASCII at once
    while (text.size() >= sizeof(word)) {
      std::memcpy(&word, text.data(), sizeof(word));
      if ((word & 0x8080808080808080u) != 0) break;
      text.remove_prefix(sizeof(word));
    }
    if (text.empty()) return true;
    const Utf8Head head = ReadUtf8Head(text);
    if (head.kind != Utf8Kind::kCharacter) return false;
    text.remove_prefix(head.bytes);
  }
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t valid = 0;
  while (valid < text.size()) {
    const Utf8Head head = ReadUtf8Head(text.substr(valid));
    if (head.kind != Utf8Kind::kCharacter) break;
    valid += head.bytes;
  }
  return valid;
}

Character FirstCharacter(std::string_view text) {
  const auto at = [text](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t head = at(0);
  if (head < 0x80 || text.size() == 1) return {head, 1};
  if (head < 0xE0 || text.size() == 2) return {(head & 0x1F) << 6 | (at(1) & 0x3F), 2};
  if (head < 0xF0 || text.size() == 3) return {(head & 0xF) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F), 3};
  return {(head & 7) << 18 | (at(1) & 0x3F) << 12 | (at(2) & 0x3F) << 6 | (at(3) & 0x3F), 4};
}

Character LastCharacter(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && ContinuesCharacter(text[begin])) --begin;
  return FirstCharacter(text.substr(begin));
}

void AppendCharacter(char32_t code, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

void Utf8Stream::Push(std::string_view bytes, std::string& text) {
  held_ += bytes;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Head head = ReadUtf8Head(rest);
    if (head.kind == Utf8Kind::kCut) break;
    text += head.kind == Utf8Kind::kCharacter ? rest.substr(0, head.bytes) : kReplacementCharacter;
    rest.remove_prefix(head.bytes);
  }
  held_.erase(0, held_.size() - rest.size());
}

void Utf8Stream::Finish(std::string& text) {
  if (!held_.empty()) text += kReplacementCharacter;
  held_.clear();
}

}  // namespace ekvi::base
