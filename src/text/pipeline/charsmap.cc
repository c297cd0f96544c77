// A unit of the double array holds, from its low bits: a byte label (8 bits), whether an entry ends here (bit 8), and
// where its children begin: bits 10 to 30, shifted left by 8 more where bit 9 is set. The value of an entry is the
// low 31 bits of the child with label 0. (Yata, "Darts-clone"; the format is its version 0.32.)
#include "text/pipeline/charsmap.h"

#include <fmt/core.h>
#include <utf8proc.h>

#include <cstring>

#include "base/utf8.h"
#include "ekvi/error.h"
#include "files/reader_error.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

bool EndsEntry(uint32_t unit) { return (unit >> 8 & 1) != 0; }
uint32_t Label(uint32_t unit) { return unit & (0x80000000u | 0xFFu); }
size_t Offset(uint32_t unit) { return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6); }
constexpr size_t kEntryBytesMax = 1024;  // those of public models have some twenty
constexpr const char* kConvertAgain = "copy or download the tokenizer again, or convert it again";

uint32_t Value(uint32_t unit) { return unit & 0x7FFFFFFFu; }

}  // namespace

Charsmap::Charsmap(std::string_view blob) {
  uint32_t trie_bytes = 0;
  if (blob.size() >= sizeof(trie_bytes)) std::memcpy(&trie_bytes, blob.data(), sizeof(trie_bytes));
  const size_t rest = blob.size() < sizeof(trie_bytes) ? 0 : blob.size() - sizeof(trie_bytes);
  if (trie_bytes > rest || trie_bytes % 4 != 0 || trie_bytes == 0) {
    throw Error(
        ErrorCode::kCorrupt, "the charsmap's trie does not fit",
        fmt::format("{} bytes of trie in a charsmap of {}", files::Digits(trie_bytes), files::Digits(blob.size())),
        kConvertAgain);
  }
  units_.resize(trie_bytes / 4);
  std::memcpy(units_.data(), blob.data() + sizeof(trie_bytes), trie_bytes);
  replacements_ = blob.substr(sizeof(trie_bytes) + trie_bytes);
  if (replacements_.find('\0') == std::string::npos || replacements_.back() != '\0') {
    throw Error(ErrorCode::kCorrupt, "the charsmap's last replacement has no end",
                fmt::format("{} bytes of replacements", files::Digits(replacements_.size())), kConvertAgain);
  }
}

std::optional<Charsmap::Match> Charsmap::Find(std::string_view text, Want want) const {
  std::optional<Match> found;
  size_t node = Offset(units_[0]);
  for (size_t at = 0; at < text.size(); ++at) {
    if (at == kEntryBytesMax) {
      throw Error(ErrorCode::kCorrupt, "the charsmap has too long an entry", "over 1,024 bytes", kConvertAgain);
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    node ^= byte;
    if (byte == 0 || node >= units_.size()) break;
    const uint32_t unit = units_[node];
    if (Label(unit) != byte) break;
    node ^= Offset(unit);
    if (!EndsEntry(unit)) continue;
    if (node >= units_.size() || Value(units_[node]) >= replacements_.size()) break;
    const Match match{at + 1, replacements_.c_str() + Value(units_[node])};
    if (!base::IsUtf8(match.replacement)) break;
    found = match;
    if (want == Want::kShortest) break;
  }
  return found;
}

void Precompiled::Apply(std::string& text) const {
  constexpr size_t kGraphemeBytes = 6;  // longer clusters are looked up character by character
  std::string mapped;
  mapped.reserve(text.size());
  const std::string_view all = text;
  for (size_t begin = 0; begin < all.size();) {
    const Character first = FirstCharacter(all.substr(begin));
    size_t end = begin + first.bytes;
    utf8proc_int32_t state = 0;
    auto before = static_cast<utf8proc_int32_t>(first.code);
    while (end < all.size()) {
      const Character next = FirstCharacter(all.substr(end));
      if (utf8proc_grapheme_break_stateful(before, static_cast<utf8proc_int32_t>(next.code), &state)) break;
      before = static_cast<utf8proc_int32_t>(next.code);
      end += next.bytes;
    }
    const std::string_view grapheme = all.substr(begin, end - begin);
    const auto match = grapheme.size() < kGraphemeBytes ? map_.Shortest(grapheme) : std::nullopt;
    if (match) mapped += match->replacement;
    CheckNormalizedBytes(mapped.size());
    for (size_t at = 0; !match && at < grapheme.size();) {
      const Character character = FirstCharacter(grapheme.substr(at));
      const std::string_view bytes = grapheme.substr(at, character.bytes);
      const auto single = map_.Shortest(bytes);
      mapped += single ? single->replacement : bytes;
      at += character.bytes;
    }
    begin = end;
  }
  text = std::move(mapped);
}

}  // namespace ekvi::text
