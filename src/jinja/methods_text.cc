// Python's methods of str.
#include <fmt/format.h>

#include <algorithm>

#include "jinja/bound.h"
#include "jinja/brace_format.h"
#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

Value List(const std::vector<std::string_view>& parts) {
  Items items;
  items.reserve(parts.size());
  for (const std::string_view part : parts) items.push_back(Value::Of(part));
  return Value::List(std::move(items));
}

template <std::string (*kMap)(std::string_view)>
Value Mapped(const Value& self, const CallArguments& arguments) {
  const Bound bound("str method", arguments, {});
  return Value::Of(kMap(self.text()), self.markup());
}

template <Side kSide>
Value Stripped(const Value& self, const CallArguments& arguments) {
  const Bound bound("strip", arguments, {"chars"});
  const std::string chars = bound.HasValue(0) ? bound.Text(0, "") : "";
  const std::string_view view = chars;
  return Value::Of(std::string(Strip(self.text(), kSide, bound.HasValue(0) ? &view : nullptr)), self.markup());
}

// What `test` says of every character; false of no character at all.
template <bool (*kTest)(char32_t)>
Value Every(const Value& self, const CallArguments& arguments) {
  const Bound bound("str method", arguments, {});
  Step(self.text().size());
  std::string_view rest = self.text();
  bool every = !rest.empty();
  while (every && !rest.empty()) {
    const Character head = FirstCharacter(rest);
    every = kTest(head.code);
    rest.remove_prefix(head.bytes);
  }
  return Value::Of(every);
}

bool IsAlnum(char32_t code) { return IsAlpha(code) || IsNumeric(code); }
bool IsDigit(char32_t code) {
  const bool superscript = code == 0xB2 || code == 0xB3 || code == 0xB9 || code == 0x2070 ||
                           (code >= 0x2074 && code <= 0x2079) || (code >= 0x2080 && code <= 0x2089) ||
                           (code >= 0x2460 && code <= 0x2468);
  return IsDecimal(code) || superscript;
}

// Whether there is a cased character and each has this case.
template <bool (*kHas)(char32_t), bool (*kOther)(char32_t)>
Value HasCase(const Value& self, const CallArguments& arguments) {
  const Bound bound("str method", arguments, {});
  Step(self.text().size());
  bool any = false;
  for (std::string_view rest = self.text(); !rest.empty();) {
    const Character head = FirstCharacter(rest);
    if (kOther(head.code) || IsTitle(head.code)) return Value::Of(false);
    any |= kHas(head.code);
    rest.remove_prefix(head.bytes);
  }
  return Value::Of(any);
}

Value IsTitled(const Value& self, const CallArguments& arguments) {
  const Bound bound("istitle", arguments, {});
  Step(self.text().size());
  bool any = false, in_word = false;
  for (std::string_view rest = self.text(); !rest.empty();) {
    const Character head = FirstCharacter(rest);
    const bool upper = IsUpper(head.code) || IsTitle(head.code), lower = IsLower(head.code);
    if ((upper && in_word) || (lower && !in_word)) return Value::Of(false);
    in_word = upper || lower;
    any |= in_word;
    rest.remove_prefix(head.bytes);
  }
  return Value::Of(any);
}

Value IsAscii(const Value& self, const CallArguments& arguments) {
  const Bound bound("isascii", arguments, {});
  return Value::Of(self.whole_text().characters == self.text().size());
}

Value IsPrintableText(const Value& self, const CallArguments& arguments) {
  if (self.text().empty()) return Value::Of(true);
  return Every<IsPrintable>(self, arguments);
}

// The part between `start` and `end`, counted in characters, as find, count and startswith take them.
struct Window {
  std::string_view text;
  size_t characters_before = 0;
  bool valid = true;  // start is not past the end
};

Window WindowOf(const Value& self, const Bound& bound) {
  const std::string_view text = self.text();
  const auto length = static_cast<int64_t>(self.whole_text().characters);
  const auto place = [&](size_t index, int64_t fallback) {
    const int64_t at = bound.HasValue(index) ? bound.Integer(index, 0) : fallback;
    return std::max<int64_t>(at < 0 ? at + length : at, 0);
  };
  const int64_t start = place(1, 0), end = std::min(place(2, length), length);
  if (start > end) return {.text = {}, .characters_before = 0, .valid = false};
  StepBytes(text.size());
  const size_t begin = CharacterOffset(text, static_cast<size_t>(start));
  const size_t stop = CharacterOffset(text, static_cast<size_t>(end));
  return {text.substr(begin, stop - begin), static_cast<size_t>(start), true};
}

enum class Missing { kMinusOne, kFails };

template <size_t (*kSearch)(std::string_view, std::string_view), Missing kMissing>
Value Search(const Value& self, const CallArguments& arguments) {
  const Bound bound("find", arguments, {"sub", "start", "end"}, 1);
  const Window window = WindowOf(self, bound);
  const size_t found = window.valid ? kSearch(window.text, bound.Text(0, "")) : std::string::npos;
  if (found != std::string::npos) {
    const size_t characters = CountCharacters(window.text.substr(0, found));
    return Value::Of(static_cast<int64_t>(window.characters_before + characters));
  }
  if (kMissing == Missing::kFails) Fail("substring not found");
  return Value::Of(int64_t{-1});
}

size_t FindFirst(std::string_view text, std::string_view part) { return Find(text, part); }

Value Count(const Value& self, const CallArguments& arguments) {
  const Bound bound("count", arguments, {"sub", "start", "end"}, 1);
  const Window window = WindowOf(self, bound);
  const std::string part = bound.Text(0, "");
  if (!window.valid) return Value::Of(int64_t{0});
  if (part.empty()) return Value::Of(static_cast<int64_t>(CountCharacters(window.text)) + 1);
  int64_t count = 0;
  for (size_t at = 0; (at = Find(window.text, part, at)) != std::string::npos; at += part.size()) {
    Step();
    ++count;
  }
  return Value::Of(count);
}

enum class End { kStart, kEnd };

template <End kEnd>
Value StartsOrEnds(const Value& self, const CallArguments& arguments) {
  const char* name = kEnd == End::kStart ? "startswith" : "endswith";
  const Bound bound(name, arguments, {"prefix", "start", "end"}, 1);
  const Window window = WindowOf(self, bound);
  const Value& parts = *bound[0];
  const auto matches = [&](const Value& part) {
    if (!part.IsText()) Fail(fmt::format("{} first arg must be str or a tuple of str, not {}", name, TypeName(part)));
    StepBytes(part.text().size());
    return window.valid &&
           (kEnd == End::kStart ? window.text.starts_with(part.text()) : window.text.ends_with(part.text()));
  };
  if (!parts.IsTuple()) return Value::Of(matches(parts));
  const Items& items = parts.sequence().items;
  return Value::Of(std::any_of(items.begin(), items.end(), matches));
}

Value RemovePrefix(const Value& self, const CallArguments& arguments) {
  const Bound bound("removeprefix", arguments, {"prefix"}, 1);
  const std::string prefix = bound.Text(0, "");
  return Value::Of(self.text().starts_with(prefix) ? self.text().substr(prefix.size()) : self.text());
}

Value RemoveSuffix(const Value& self, const CallArguments& arguments) {
  const Bound bound("removesuffix", arguments, {"suffix"}, 1);
  const std::string suffix = bound.Text(0, "");
  const std::string& text = self.text();
  return Value::Of(text.ends_with(suffix) ? text.substr(0, text.size() - suffix.size()) : text);
}

Value Replace(const Value& self, const CallArguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  return Value::Of(ReplaceAll(self.text(), bound.Text(0, ""), bound.Text(1, ""), bound.Integer(2, -1)), self.markup());
}

// Words between blanks, from the left.
std::vector<std::string_view> SplitBlanks(std::string_view text, int64_t limit) {
  std::vector<std::string_view> parts;
  text = Strip(text, Side::kLeft);
  while (!text.empty()) {
    Step(8);  // each becomes a value
    if (limit-- == 0) {
      parts.push_back(text);
      break;
    }
    size_t end = 0;
    while (end < text.size() && !IsSpace(FirstCharacter(text.substr(end)).code)) {
      end += FirstCharacter(text.substr(end)).bytes;
    }
    parts.push_back(text.substr(0, end));
    text = Strip(text.substr(end), Side::kLeft);
  }
  return parts;
}

std::vector<std::string_view> SplitBlanksRight(std::string_view text, int64_t limit) {
  std::vector<std::string_view> parts;
  text = Strip(text, Side::kRight);
  while (!text.empty()) {
    Step(8);  // each becomes a value
    if (limit-- == 0) {
      parts.push_back(text);
      break;
    }
    size_t begin = text.size();
    while (begin > 0 && !IsSpace(LastCharacter(text.substr(0, begin)).code)) {
      begin -= LastCharacter(text.substr(0, begin)).bytes;
    }
    parts.push_back(text.substr(begin));
    text = Strip(text.substr(0, begin), Side::kRight);
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string_view> SplitAt(std::string_view text, std::string_view separator, int64_t limit) {
  std::vector<std::string_view> parts;
  size_t at = 0;
  for (size_t found; limit-- != 0 && (found = Find(text, separator, at)) != std::string::npos;) {
    Step(8);  // each becomes a value
    parts.push_back(text.substr(at, found - at));
    at = found + separator.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

std::vector<std::string_view> SplitAtRight(std::string_view text, const std::string& separator, int64_t limit) {
  std::string backward(text.rbegin(), text.rend());
  const std::string mark(separator.rbegin(), separator.rend());
  std::vector<std::string_view> parts;
  for (const std::string_view part : SplitAt(backward, mark, limit)) {
    const auto offset = static_cast<size_t>(part.data() - backward.data());
    parts.push_back(text.substr(text.size() - offset - part.size(), part.size()));
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

enum class From { kLeft, kRight };

template <From kFrom>
Value Split(const Value& self, const CallArguments& arguments) {
  const Bound bound("split", arguments, {"sep", "maxsplit"});
  const int64_t limit = bound.Integer(1, -1);
  Step(self.text().size());
  if (!bound.HasValue(0)) {
    return List(kFrom == From::kLeft ? SplitBlanks(self.text(), limit) : SplitBlanksRight(self.text(), limit));
  }
  const std::string separator = bound.Text(0, "");
  if (separator.empty()) Fail("empty separator");
  return List(kFrom == From::kLeft ? SplitAt(self.text(), separator, limit)
                                   : SplitAtRight(self.text(), separator, limit));
}

template <From kFrom>
Value Partition(const Value& self, const CallArguments& arguments) {
  const Bound bound("partition", arguments, {"sep"}, 1);
  const std::string separator = bound.Text(0, "");
  if (separator.empty()) Fail("empty separator");
  const std::string_view text = self.text();
  const size_t found = kFrom == From::kLeft ? Find(text, separator) : FindLast(text, separator);
  if (found == std::string::npos) {
    const bool left = kFrom == From::kLeft;
    return Value::Tuple({Value::Of(left ? text : ""), Value::Of(""), Value::Of(left ? "" : text)});
  }
  return Value::Tuple(
      {Value::Of(text.substr(0, found)), Value::Of(separator), Value::Of(text.substr(found + separator.size()))});
}

Value Lines(const Value& self, const CallArguments& arguments) {
  const Bound bound("splitlines", arguments, {"keepends"});
  return List(SplitLines(self.text(), bound.Flag(0, false)));
}

Value Join(const Value& self, const CallArguments& arguments) {
  const Bound bound("join", arguments, {"iterable"}, 1);
  std::string result;
  size_t index = 0;
  for (const Value& item : Iterate(*bound[0])) {
    if (!item.IsText()) {
      Fail(fmt::format("sequence item {}: expected str instance, {} found", index, TypeName(item)));
    }
    if (index++ > 0) Append(result, self.text());
    Append(result, item.text());
  }
  return Value::Of(std::move(result));
}

Value Format(const Value& self, const CallArguments& arguments) {
  return Value::Of(BraceFormat(self.text(), arguments), self.markup());
}

Value FormatMap(const Value& self, const CallArguments& arguments) {
  const Bound bound("format_map", arguments, {"mapping"}, 1);
  if (!bound[0]->IsDict()) Fail("format_map() argument must be a dict");
  CallArguments named;
  for (const auto& [key, value] : bound[0]->dict().entries()) named.named.emplace_back(Str(key), value);
  return Value::Of(BraceFormat(self.text(), named));
}

enum class Align { kLeft, kRight, kCenter };

template <Align kAlign>
Value Aligned(const Value& self, const CallArguments& arguments) {
  const Bound bound("center", arguments, {"width", "fillchar"}, 1);
  const std::string fill = bound.Text(1, " ");
  if (CountCharacters(fill) != 1) Fail("The fill character must be exactly one character long");
  const auto length = static_cast<int64_t>(self.whole_text().characters);
  const int64_t width = std::max<int64_t>(bound.Integer(0, 0), 0), room = std::max<int64_t>(width - length, 0);
  CheckText(static_cast<uint64_t>(room));
  StepBytes(static_cast<uint64_t>(room));
  // Python puts the odd blank of a centered text to the left where the width is odd.
  const int64_t before = kAlign == Align::kLeft ? 0 : kAlign == Align::kRight ? room : room / 2 + (room & width & 1);
  std::string result;
  for (int64_t i = 0; i < before; ++i) result += fill;
  result += self.text();
  for (int64_t i = before; i < room; ++i) result += fill;
  return Value::Of(std::move(result));
}

Value FillZeros(const Value& self, const CallArguments& arguments) {
  const Bound bound("zfill", arguments, {"width"}, 1);
  const auto length = static_cast<int64_t>(self.whole_text().characters);
  const int64_t room = std::max<int64_t>(std::max<int64_t>(bound.Integer(0, 0), 0) - length, 0);
  CheckText(static_cast<uint64_t>(room));
  StepBytes(static_cast<uint64_t>(room));
  std::string text = self.text();
  text.insert(text.starts_with('-') || text.starts_with('+') ? 1 : 0, static_cast<size_t>(room), '0');
  return Value::Of(std::move(text));
}

Value ExpandTabs(const Value& self, const CallArguments& arguments) {
  const Bound bound("expandtabs", arguments, {"tabsize"});
  const int64_t size = bound.Integer(0, 8);
  std::string result;
  int64_t column = 0;
  for (const std::string_view character : Characters(self.text())) {
    if (character == "\t") {
      const int64_t blanks = size > 0 ? size - column % size : 0;
      CheckText(result.size() + static_cast<uint64_t>(blanks));
      StepBytes(static_cast<uint64_t>(blanks));
      result.append(static_cast<size_t>(blanks), ' ');
      column += blanks;
      continue;
    }
    column = character == "\n" || character == "\r" ? 0 : column + 1;
    result += character;
  }
  return Value::Of(std::move(result));
}

Value IsIdentifier(const Value& self, const CallArguments& arguments) {
  const Bound bound("isidentifier", arguments, {});
  Step(self.text().size());
  std::string_view rest = self.text();
  bool first = true;
  while (!rest.empty()) {
    const Character head = FirstCharacter(rest);
    if (head.code != '_' && !IsAlpha(head.code) && (first || !IsDecimal(head.code))) return Value::Of(false);
    first = false;
    rest.remove_prefix(head.bytes);
  }
  return Value::Of(!first);
}

constexpr MethodEntry kTextMethods[] = {
    {"capitalize", Mapped<Capitalize>},
    {"casefold", Mapped<Lower>},
    {"center", Aligned<Align::kCenter>},
    {"count", Count},
    {"endswith", StartsOrEnds<End::kEnd>},
    {"expandtabs", ExpandTabs},
    {"find", Search<FindFirst, Missing::kMinusOne>},
    {"format", Format},
    {"format_map", FormatMap},
    {"index", Search<FindFirst, Missing::kFails>},
    {"isalnum", Every<IsAlnum>},
    {"isalpha", Every<IsAlpha>},
    {"isascii", IsAscii},
    {"isdecimal", Every<IsDecimal>},
    {"isdigit", Every<IsDigit>},
    {"isidentifier", IsIdentifier},
    {"islower", HasCase<IsLower, IsUpper>},
    {"isnumeric", Every<IsNumeric>},
    {"isprintable", IsPrintableText},
    {"isspace", Every<IsSpace>},
    {"istitle", IsTitled},
    {"isupper", HasCase<IsUpper, IsLower>},
    {"join", Join},
    {"ljust", Aligned<Align::kLeft>},
    {"lower", Mapped<Lower>},
    {"lstrip", Stripped<Side::kLeft>},
    {"partition", Partition<From::kLeft>},
    {"removeprefix", RemovePrefix},
    {"removesuffix", RemoveSuffix},
    {"replace", Replace},
    {"rfind", Search<FindLast, Missing::kMinusOne>},
    {"rindex", Search<FindLast, Missing::kFails>},
    {"rjust", Aligned<Align::kRight>},
    {"rpartition", Partition<From::kRight>},
    {"rsplit", Split<From::kRight>},
    {"rstrip", Stripped<Side::kRight>},
    {"split", Split<From::kLeft>},
    {"splitlines", Lines},
    {"startswith", StartsOrEnds<End::kStart>},
    {"strip", Stripped<Side::kBoth>},
    {"swapcase", Mapped<SwapCase>},
    {"title", Mapped<Title>},
    {"upper", Mapped<Upper>},
    {"zfill", FillZeros},
};

}  // namespace

std::span<const MethodEntry> TextMethods() { return kTextMethods; }

}  // namespace ekvi::jinja
