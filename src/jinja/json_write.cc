#include "jinja/json_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

std::string FloatText(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return ReprFloat(number);
}

void AppendUnit(std::string& result, uint32_t unit) {
  Step(4);
  result += fmt::format("\\u{:04x}", unit);
}

void AppendEscape(std::string& result, char32_t code) {
  static constexpr std::string_view kFrom = "\"\\\n\r\t\b\f", kTo = "\"\\nrtbf";
  const size_t simple = code < 0x80 ? kFrom.find(static_cast<char>(code)) : std::string_view::npos;
  if (simple != std::string_view::npos) {
    result += {'\\', kTo[simple]};
  } else if (code < 0x10000) {
    AppendUnit(result, static_cast<uint32_t>(code));
  } else {
    AppendUnit(result, 0xD800 + ((static_cast<uint32_t>(code) - 0x10000) >> 10));
    AppendUnit(result, 0xDC00 + (static_cast<uint32_t>(code) & 0x3FF));
  }
}

class Writer {
 public:
  explicit Writer(const JsonStyle& style) : style_(style) {}

  std::string Run(const Value& value) {
    Write(value);
    return std::move(result_);
  }

 private:
  void Write(const Value& value) {
    Step();
    CheckText(result_.size());
    if (value.IsText()) {
      WriteText(value.text());
    } else if (value.IsNone()) {
      result_ += "null";
    } else if (value.IsBool()) {
      result_ += value.boolean() ? "true" : "false";
    } else if (value.IsInt()) {
      result_ += std::to_string(value.integer());
    } else if (value.IsFloat()) {
      result_ += FloatText(value.number());
    } else if (value.IsList() || value.IsTuple()) {
      WriteList(value.sequence().items);
    } else if (value.IsDict()) {
      WriteDict(value.dict());
    } else {
      Fail(fmt::format("Object of type {} is not JSON serializable", TypeName(value)));
    }
  }

  void WriteText(std::string_view text) {
    Step(text.size());
    result_ += '"';
    for (size_t at = 0; at < text.size();) {
      const Character head = FirstCharacter(text.substr(at));
      const bool escape =
          head.code < 0x20 || head.code == '"' || head.code == '\\' || (style_.ascii && head.code > 0x7E);
      escape ? AppendEscape(result_, head.code) : void(result_.append(text, at, head.bytes));
      at += head.bytes;
    }
    result_ += '"';
  }

  void NewLine() {
    if (!style_.indent) return;
    result_ += '\n';
    for (int i = 0; i < level_; ++i) Append(result_, *style_.indent);
  }

  // What stands between brackets: one(index) for each item.
  template <typename One>
  void WriteAll(char open, char close, size_t count, One one) {
    result_ += open;
    ++level_;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) result_ += style_.item_separator;
      NewLine();
      one(i);
    }
    --level_;
    if (count > 0) NewLine();
    result_ += close;
  }

  void WriteList(const Items& items) {
    WriteAll('[', ']', items.size(), [&](size_t i) { Write(items[i]); });
  }

  void WriteDict(const Dict& dict) {
    std::vector<const Dict::Entry*> entries;
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* left, const auto* right) { return Less(left->first, right->first); });
    }
    WriteAll('{', '}', entries.size(), [&](size_t i) {
      WriteText(KeyText(entries[i]->first));
      result_ += style_.key_separator;
      Write(entries[i]->second);
    });
  }

  static std::string KeyText(const Value& key) {
    if (key.IsText()) return key.text();
    if (key.IsNone()) return "null";
    if (key.IsBool()) return key.boolean() ? "true" : "false";
    if (key.IsInt()) return std::to_string(key.integer());
    if (key.IsFloat()) return FloatText(key.number());
    Fail(fmt::format("keys must be str, int, float, bool or None, not {}", TypeName(key)));
  }

  const JsonStyle& style_;
  int level_ = 0;
  std::string result_;
};

}  // namespace

std::string WriteJson(const Value& value, const JsonStyle& style) { return Writer(style).Run(value); }

}  // namespace ekvi::jinja
