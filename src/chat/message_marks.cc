#include "chat/message_marks.h"

#include <algorithm>

#include "base/utf8.h"
#include "ekvi/error.h"

namespace ekvi::chat {
namespace {

// U+FDD0 … U+FDEF and the last two of each plane: for a program's own use, never for interchange (Unicode 15, 23.7).
std::vector<char32_t> Noncharacters() {
  std::vector<char32_t> all;
  for (char32_t code = 0xFDD0; code <= 0xFDEF; ++code) all.push_back(code);
  for (char32_t plane = 0; plane <= 16; ++plane) all.insert(all.end(), {plane << 16 | 0xFFFE, plane << 16 | 0xFFFF});
  return all;
}

// The end of the character that begins at `begin`.
size_t CharacterEnd(std::string_view text, size_t begin) {
  size_t end = begin + 1;
  while (end < text.size() && base::ContinuesCharacter(text[end])) ++end;
  return end;
}

// A name that begins with another is found, to its first character, where the other is.
void DropLonger(std::vector<std::string_view>& names) {
  std::ranges::sort(names);
  size_t kept = 0;
  for (const std::string_view name : names) {
    if (kept == 0 || !name.starts_with(names[kept - 1])) names[kept++] = name;
  }
  names.resize(kept);
}

}  // namespace

MessageMarks::MessageMarks(const Tokenizer& tokenizer) : tokenizer_(tokenizer), names_(tokenizer.ControlNames()) {
  DropLonger(names_);
  for (const std::string_view name : names_) first_[static_cast<unsigned char>(name[0])] = true;
}

std::string MessageMarks::FreeMark(std::span<const std::string_view> texts) {
  for (const char32_t code : Noncharacters()) {
    std::string mark;
    base::AppendCharacter(code, mark);
    const auto holds = [&](std::string_view text) { return text.find(mark) != std::string_view::npos; };
    if (std::ranges::none_of(texts, holds)) return mark;
  }
  throw Error(ErrorCode::kUnsupported, "the conversation holds every noncharacter of Unicode",
              "66 of 66, one must be free to keep messages apart from the template", "leave one of them out");
}

bool MessageMarks::BeginsName(std::string_view text) const {
  // None begins with another, so the only one that can is the last that is not behind `text`.
  const auto behind = std::ranges::upper_bound(names_, text);
  return behind != names_.begin() && text.starts_with(*std::prev(behind));
}

bool MessageMarks::BeginsCutName(std::string_view text) const {
  const auto at = std::ranges::lower_bound(names_, text);
  return at != names_.end() && at->starts_with(text);
}

std::string MessageMarks::Marked(std::string_view content, std::string_view mark) const {
  // Templates often trim: what stands before the last blanks may end what they write.
  const size_t last = content.find_last_not_of(" \t\r\n");
  const std::string_view trimmed = content.substr(0, last == std::string_view::npos ? 0 : last + 1);
  std::string marked;
  for (size_t at = 0; at < content.size();) {
    const bool may_begin = first_[static_cast<unsigned char>(content[at])];
    const bool begins = may_begin && (BeginsName(content.substr(at)) || BeginsCutName(content.substr(at)) ||
                                      (at < trimmed.size() && BeginsCutName(trimmed.substr(at))));
    const size_t end = begins ? CharacterEnd(content, at) : at + 1;
    marked += content.substr(at, end - at);
    if (begins) marked += mark;
    at = end;
  }
  return marked;
}

std::vector<int32_t> MessageMarks::Encode(const Rendered& rendered) const {
  std::string text;
  std::vector<std::pair<size_t, size_t>> said;  // begin and length of characters in `text`
  for (size_t at = 0; at < rendered.text.size();) {
    const size_t mark = std::min(rendered.text.find(rendered.mark, at), rendered.text.size());
    text += rendered.text.substr(at, mark - at);
    at = mark + rendered.mark.size();
    if (mark == rendered.text.size() || text.empty()) continue;
    size_t begin = text.size() - 1;
    while (begin > 0 && base::ContinuesCharacter(text[begin])) --begin;
    said.emplace_back(begin, text.size() - begin);
  }
  std::vector<std::string_view> plain;
  for (const auto& [begin, bytes] : said) {
    const std::string_view part = std::string_view(text).substr(begin, bytes);
    if (plain.empty() || plain.back().data() != part.data()) plain.push_back(part);
  }
  EncodeOptions options = rendered.options;
  options.plain = plain;
  return tokenizer_.Encode(text, options);
}

}  // namespace ekvi::chat
