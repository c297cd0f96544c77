#include "text/pipeline/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "ekvi/error.h"
#include "text/unicode/byte_alphabet.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

utf8proc_category_t Category(uint32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

bool IsMark(uint32_t code) {
  const utf8proc_category_t category = Category(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

// The full decomposition of each character, marks in canonical order. libutf8proc sorts the marks of a long run in
// quadratic time; here each run is sorted at once.
std::vector<utf8proc_int32_t> Decompose(std::string_view text, int options) {
  std::vector<utf8proc_int32_t> codes;
  codes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = FirstCharacter(text.substr(at));
    at += character.bytes;
    utf8proc_int32_t parts[32];  // the longest decomposition has 18
    int bound = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(character.code), parts, std::size(parts),
                                               static_cast<utf8proc_option_t>(options), &bound);
    EKVI_CHECK(count >= 0 && static_cast<size_t>(count) <= std::size(parts));
    codes.insert(codes.end(), parts, parts + count);
  }
  const auto rank = [](utf8proc_int32_t code) { return utf8proc_get_property(code)->combining_class; };
  for (auto begin = codes.begin(); begin != codes.end();) {
    begin = std::find_if(begin, codes.end(), [&](auto code) { return rank(code) != 0; });
    const auto end = std::find_if(begin, codes.end(), [&](auto code) { return rank(code) == 0; });
    std::ranges::stable_sort(begin, end, {}, rank);
    begin = end;
  }
  return codes;
}

void AppendUnless(bool left_out, uint32_t code, std::string& text) {
  if (!left_out) AppendCharacter(code, text);
}

}  // namespace

void CheckNormalizedBytes(size_t bytes) {
  constexpr size_t kBytesMax = size_t{256} << 20;
  if (bytes <= kBytesMax) return;
  throw Error(ErrorCode::kCapacity, "the tokenizer's normalizer makes too long a text", "more than 256 MiB",
              "encode the text in parts");
}

void UnicodeForm::Apply(std::string& text) const {
  if (IsAscii(text)) return;
  const bool compose = form_ == Form::kNfc || form_ == Form::kNfkc;
  const bool compatible = form_ == Form::kNfkc || form_ == Form::kNfkd;
  const int options = UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (compatible ? UTF8PROC_COMPAT : 0);
  std::vector<utf8proc_int32_t> codes = Decompose(text, options);
  if (compose) {
    const auto count = utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                                                static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
    EKVI_CHECK(count >= 0);
    codes.resize(static_cast<size_t>(count));
  }
  text.clear();
  for (const utf8proc_int32_t code : codes) AppendCharacter(static_cast<uint32_t>(code), text);
}

void CharacterMap::Apply(std::string& text) const {
  std::string mapped;
  mapped.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character character = FirstCharacter(std::string_view(text).substr(at));
    append_(character.code, mapped);
    at += character.bytes;
  }
  text = std::move(mapped);
}

void AppendLowercase(uint32_t code, std::string& text) {
  if (code == 0x130) {
    text += "i\u0307";  // the only character whose lower case is two
  } else {
    AppendCharacter(static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))), text);
  }
}

void AppendUnlessMark(uint32_t code, std::string& text) { AppendUnless(IsMark(code), code, text); }

void AppendUnlessNonspacingMark(uint32_t code, std::string& text) {
  AppendUnless(Category(code) == UTF8PROC_CATEGORY_MN, code, text);
}

// SentencePiece's rule nmt_nfkc, less the NFKC (builder.cc, MergeUnicodeSpaces and RemoveControlChars).
void AppendNmt(uint32_t code, std::string& text) {
  const bool control = (code >= 1 && code <= 8) || code == 0xB || (code >= 0xE && code <= 0x1F) || code == 0x7F ||
                       code == 0x8F || code == 0x9F;
  if (control) return;
  const bool blank = code == 9 || code == 0xA || code == 0xC || code == 0xD || code == 0x1680 ||
                     (code >= 0x200B && code <= 0x200F) || code == 0x2028 || code == 0x2029 || code == 0x2581 ||
                     code == 0xFEFF || code == 0xFFFD;
  AppendCharacter(blank ? ' ' : code, text);
}

void AppendBertClean(uint32_t code, std::string& text) {
  const bool blank = code == '\t' || code == '\n' || code == '\r' || IsWhiteSpace(code);
  const utf8proc_category_t category = Category(code);
  const bool other = category == UTF8PROC_CATEGORY_CN || category >= UTF8PROC_CATEGORY_CC;
  const bool kept_control = code == '\t' || code == '\n' || code == '\r';
  if (code == 0 || code == 0xFFFD || (other && !kept_control)) return;
  AppendCharacter(blank ? ' ' : code, text);
}

void AppendHanApart(uint32_t code, std::string& text) {
  const bool han = IsHan(code);
  if (han) text += ' ';
  AppendCharacter(code, text);
  if (han) text += ' ';
}

void Strip::Apply(std::string& text) const {
  size_t begin = 0, end = 0, last = 0;  // `last`: behind the last character that is no blank
  bool leading = true;
  while (end < text.size()) {
    const Character character = FirstCharacter(std::string_view(text).substr(end));
    end += character.bytes;
    if (!IsWhiteSpace(character.code)) {
      leading = false;
      last = end;
    } else if (leading) {
      begin = end;
    }
  }
  const bool left = sides_ == Sides::kLeft || sides_ == Sides::kBoth;
  const bool right = sides_ == Sides::kRight || sides_ == Sides::kBoth;
  if (right) text.resize(last);
  if (left) text.erase(0, std::min(begin, text.size()));
}

void Replace::Apply(std::string& text) const {
  std::string replaced;
  Regex::Walk walk;
  size_t done = 0;
  while (const auto match = pattern_->Next(text, walk)) {
    CheckNormalizedBytes(replaced.size() + content_.size());
    replaced.append(text, done, match->begin - done);
    replaced += content_;
    done = match->end;
  }
  if (done == 0 && replaced.empty()) return;
  replaced.append(text, done);
  text = std::move(replaced);
}

void Prepend::Apply(std::string& text) const {
  if (!text.empty()) text.insert(0, prefix_);
}

void SpellBytes::Apply(std::string& text) const {
  std::string spelt;
  AppendAsAlphabet(text, spelt);
  text = std::move(spelt);
}

void NormalizerRow::Apply(std::string& text) const {
  for (const auto& normalizer : row_) {
    normalizer->Apply(text);
    CheckNormalizedBytes(text.size());
  }
}

}  // namespace ekvi::text
