// Filters of texts.
#include <fmt/format.h>

#include <algorithm>

#include "jinja/bound.h"
#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/filters.h"
#include "jinja/json_read.h"
#include "jinja/json_write.h"
#include "jinja/operators.h"
#include "jinja/percent_format.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

std::string Repeated(int64_t blanks) {
  CheckText(static_cast<uint64_t>(std::max<int64_t>(blanks, 0)));
  return std::string(static_cast<size_t>(std::max<int64_t>(blanks, 0)), ' ');
}

// For filters that take texts only, where others take what anything is written as.
const std::string& RequireText(const Value& input, std::string_view filter) {
  RequireDefined(input);
  if (!input.IsText()) Fail(fmt::format("the filter {} takes str, not {}", filter, TypeName(input)));
  return input.text();
}

template <std::string (*kMap)(std::string_view)>
Value Mapped(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("filter", arguments, {});
  return Value::Of(kMap(Str(input)), input.markup());
}

// The filter's own: a word begins at the start, after blanks, dashes and opening brackets.
std::string TitleWords(std::string_view text) {
  std::string result;
  size_t begin = 0;
  const auto flush = [&](size_t end) {
    const std::string_view word = text.substr(begin, end - begin);
    if (word.empty()) return;
    const size_t first = FirstCharacter(word).bytes;
    result += Upper(word.substr(0, first)) + Lower(word.substr(first));
  };
  for (size_t at = 0; at < text.size();) {
    const Character head = FirstCharacter(text.substr(at));
    const bool separates = IsSpace(head.code) || std::u32string_view(U"-({[<").find(head.code) != std::string::npos;
    if (separates) {
      flush(at);
      begin = at;
      while (at < text.size()) {
        const Character next = FirstCharacter(text.substr(at));
        if (!IsSpace(next.code) && std::u32string_view(U"-({[<").find(next.code) == std::string::npos) break;
        at += next.bytes;
      }
      result += text.substr(begin, at - begin);
      begin = at;
    } else {
      at += head.bytes;
    }
  }
  flush(text.size());
  return result;
}

Value Trim(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("trim", arguments, {"chars"});
  const std::string chars = bound.HasValue(0) ? bound.Text(0, "") : "";
  const std::string_view view = chars;
  const std::string text = Str(input);
  return Value::Of(std::string(Strip(text, Side::kBoth, bound.HasValue(0) ? &view : nullptr)), input.markup());
}

Value ReplaceIn(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("replace", arguments, {"old", "new", "count"}, 2);
  const int64_t count = bound.HasValue(2) ? bound.Integer(2, -1) : -1;
  return Value::Of(ReplaceAll(Str(input), Str(*bound[0]), Str(*bound[1]), count));
}

Value Center(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("center", arguments, {"width"});
  const std::string text = Str(input);
  const int64_t width = std::max<int64_t>(bound.Integer(0, 80), 0);
  const int64_t room = std::max<int64_t>(width - static_cast<int64_t>(CountCharacters(text)), 0);
  CheckText(static_cast<uint64_t>(room));
  StepBytes(text.size() * 2 + static_cast<uint64_t>(room) * 2);
  const auto before = static_cast<size_t>(room / 2 + (room & width & 1));
  return Value::Of(std::string(before, ' ') + text + std::string(static_cast<size_t>(room) - before, ' '));
}

Value Indent(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("indent", arguments, {"width", "first", "blank"});
  const std::string indent = bound.Has(0) && bound[0]->IsText() ? bound[0]->text() : Repeated(bound.Integer(0, 4));
  const bool blank = bound.Flag(2, false);
  const std::string text = RequireText(input, "indent") + "\n";
  std::string result = bound.Flag(1, false) ? indent : "";
  bool first = true;
  for (const std::string_view line : SplitLines(text, false)) {
    if (!first) {
      Append(result, "\n");
      if (blank || !line.empty()) Append(result, indent);
    }
    Append(result, line);
    first = false;
  }
  return Value::Of(std::move(result), input.markup());
}

Value Truncate(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const std::string end = bound.Text(2, "...");
  const int64_t length = bound.Integer(0, 255), leeway = bound.HasValue(3) ? bound.Integer(3, 5) : 5;
  const auto end_length = static_cast<int64_t>(CountCharacters(end));
  if (length < end_length) Fail(fmt::format("expected length >= {}, got {}", end_length, length));
  if (leeway < 0) Fail(fmt::format("expected leeway >= 0, got {}", leeway));
  if (Length(input) - leeway <= length) return input;
  const std::string& text = RequireText(input, "truncate");
  StepBytes(text.size() * 4);
  std::string cut = text.substr(0, CharacterOffset(text, static_cast<size_t>(length - end_length)));
  const size_t blank = bound.Flag(1, false) ? std::string::npos : cut.rfind(' ');
  if (blank != std::string::npos) cut.resize(blank);
  return Value::Of(cut + end);
}

Value WordCount(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("wordcount", arguments, {});
  const std::string text = Str(input);
  Step(text.size());
  int64_t count = 0;
  bool in_word = false;
  for (std::string_view rest = text; !rest.empty();) {
    const Character head = FirstCharacter(rest);
    const bool word = head.code == '_' || IsAlpha(head.code) || IsNumeric(head.code);
    count += word && !in_word ? 1 : 0;
    in_word = word;
    rest.remove_prefix(head.bytes);
  }
  return Value::Of(count);
}

Value Format(Renderer&, const Value& input, const CallArguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) {
    Fail("can't handle positional and keyword arguments at the same time");
  }
  const Value text = Value::Of(Str(input), input.markup());
  if (arguments.named.empty()) return PercentFormat(text, Value::Tuple(Items(arguments.positional)));
  Dict dict;
  for (const auto& [name, value] : arguments.named) dict.Set(Value::Of(name), value);
  return PercentFormat(text, Value::Of(std::move(dict)));
}

Value String(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("string", arguments, {});
  return input.IsText() ? input : Value::Of(Str(input));
}

Value Safe(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("safe", arguments, {});
  return Value::Of(Str(input), true);
}

Value EscapeFilter(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("escape", arguments, {});
  return Escape(input);
}

Value ForceEscape(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("forceescape", arguments, {});
  return Escape(Value::Of(Str(input)));
}

// Without what stands between < and >, and blanks as single ones.
Value StripTags(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("striptags", arguments, {});
  std::string text;
  std::string_view rest;
  const std::string whole = Str(input);
  for (rest = whole; !rest.empty();) {
    const size_t open = rest.find('<');
    const size_t close = open == std::string::npos ? open : rest.find('>', open);
    if (close == std::string::npos) break;
    text += rest.substr(0, open);
    rest.remove_prefix(close + 1);
  }
  text += rest;
  std::string result;
  bool blank = false;
  for (const std::string_view character : Characters(Strip(text))) {
    const bool space = IsSpace(FirstCharacter(character).code);
    if (!space || !blank) result += space ? " " : std::string(character);
    blank = space;
  }
  return Value::Of(std::move(result));
}

std::string Quoted(std::string_view text, bool query) {
  std::string result;
  Step(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("_.-~").find(c) != std::string_view::npos || (c == '/' && !query);
    if (plain) {
      result += c;
    } else {
      Step(2);
      result += query && c == ' ' ? "+" : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

Value UrlEncode(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("urlencode", arguments, {});
  if (input.IsText() || input.IsNumber() || input.IsNone()) return Value::Of(Quoted(Str(input), false));
  std::string result;
  for (const Value& pair : input.IsDict() ? input.dict().Pairs() : Iterate(input)) {
    const Items parts = Iterate(pair);
    if (parts.size() != 2) Fail("urlencode takes pairs of a name and a value");
    result +=
        fmt::format("{}{}={}", result.empty() ? "" : "&", Quoted(Str(parts[0]), true), Quoted(Str(parts[1]), true));
  }
  return Value::Of(std::move(result));
}

std::optional<std::string> IndentOf(const Bound& bound, size_t index) {
  if (!bound.HasValue(index)) return std::nullopt;
  if (bound[index]->IsText()) return bound[index]->text();
  return Repeated(bound.Integer(index, 0));
}

// As transformers defines it, not Jinja: nothing is escaped for HTML.
Value ToJson(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style{.indent = IndentOf(bound, 1), .ascii = bound.Flag(0, false), .sort_keys = bound.Flag(3, false)};
  if (style.indent) style.item_separator = ",";
  if (bound.HasValue(2)) {
    const Items separators = Iterate(*bound[2]);
    const bool fine = separators.size() == 2 && separators[0].IsText() && separators[1].IsText();
    if (!fine) Fail("tojson() separators must be two texts");
    style.item_separator = separators[0].text();
    style.key_separator = separators[1].text();
  }
  return Value::Of(WriteJson(input, style));
}

Value FromJson(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("from_json", arguments, {});
  if (!input.IsText()) Fail(fmt::format("the JSON object must be str, not {}", TypeName(input)));
  Step(32 + input.text().size() / 8);
  return ReadJson(input.text(), "the text for from_json");
}

constexpr FilterEntry kFilters[] = {
    {"capitalize", Mapped<Capitalize>},
    {"center", Center},
    {"e", EscapeFilter},
    {"escape", EscapeFilter},
    {"forceescape", ForceEscape},
    {"format", Format},
    {"from_json", FromJson},
    {"fromjson", FromJson},
    {"indent", Indent},
    {"lower", Mapped<Lower>},
    {"replace", ReplaceIn},
    {"safe", Safe},
    {"string", String},
    {"striptags", StripTags},
    {"title", Mapped<TitleWords>},
    {"tojson", ToJson},
    {"trim", Trim},
    {"truncate", Truncate},
    {"upper", Mapped<Upper>},
    {"urlencode", UrlEncode},
    {"wordcount", WordCount},
};

}  // namespace

std::span<const FilterEntry> TextFilters() { return kFilters; }

}  // namespace ekvi::jinja
