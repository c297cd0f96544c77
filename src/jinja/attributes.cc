#include "jinja/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/meter.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

// Every object has them in Python, and templates do not see them.
bool IsInternal(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

std::optional<Value> FindAttribute(const Value& object, std::string_view name) {
  if (IsInternal(name)) {
    return Value::MakeUndefined(
        fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, TypeName(object)));
  }
  if (object.IsObject()) return object.object().Attribute(name);
  return FindMethod(object, name);
}

std::optional<Value> ItemAt(const Value& object, const Value& key) {
  if (!key.IsIntegral()) return std::nullopt;
  int64_t index = key.integer();
  const bool text = object.IsText();
  const auto type = text ? Value::SequenceType::kList : object.sequence().type;
  const bool indexed =
      type == Value::SequenceType::kList || type == Value::SequenceType::kTuple || type == Value::SequenceType::kRange;
  const int64_t length = Length(object);
  if (index < 0) index += length;
  if (!indexed || index < 0 || index >= length) return std::nullopt;
  if (!text) return object.sequence().items[static_cast<size_t>(index)];
  const std::string& bytes = object.text();
  if (object.whole_text().characters == bytes.size())
    return Value::Of(std::string(1, bytes[static_cast<size_t>(index)]));
  StepBytes(bytes.size() * 4);
  const size_t at = CharacterOffset(bytes, static_cast<size_t>(index));
  return Value::Of(bytes.substr(at, FirstCharacter(std::string_view(bytes).substr(at)).bytes));
}

bool IsHashable(const Value& key) {
  if (key.IsTuple()) {
    const Items& items = key.sequence().items;
    return std::all_of(items.begin(), items.end(), IsHashable);
  }
  return !key.IsList() && !key.IsDict();
}

std::optional<Value> FindItem(const Value& object, const Value& key) {
  if (object.IsDict()) {
    const Value* found = IsHashable(key) ? object.dict().Find(key) : nullptr;
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  return object.IsText() || object.IsSequence() ? ItemAt(object, key) : std::nullopt;
}

Value Missing(const Value& object, const Value& key) {
  return Value::MakeUndefined(key.IsText() ? fmt::format("'{}' has no attribute '{}'", ObjectName(object), key.text())
                                           : fmt::format("{} has no element {}", ObjectName(object), Repr(key)));
}

}  // namespace

Value GetAttribute(const Value& object, std::string_view name) {
  RequireDefined(object);
  if (auto found = FindAttribute(object, name)) return *found;
  if (object.IsDict()) {
    if (const Value* item = object.dict().Find(name)) return *item;
  }
  return Missing(object, Value::Of(name));
}

Value GetItem(const Value& object, const Value& key) {
  RequireDefined(object);
  if (key.IsText())
    StepBytes(4 * key.text().size());  // it is hashed, compared with names, and named where it is missing
  if (auto found = FindItem(object, key)) return *found;
  if (key.IsText()) {
    if (auto found = FindAttribute(object, key.text())) return *found;
  }
  return Missing(object, key);
}

std::vector<Value> AttributePath(const Value& attribute) {
  std::vector<Value> path;
  if (!attribute.IsText()) {
    path.push_back(attribute);
    return path;
  }
  std::string_view rest = attribute.text();
  while (true) {
    Step();
    const size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, end);
    int64_t index = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool number = !part.empty() && part[0] != '-' && error == std::errc{} && stop == part.data() + part.size();
    path.push_back(number ? Value::Of(index) : Value::Of(part));
    if (end == rest.size()) return path;
    rest.remove_prefix(end + 1);
  }
}

Value GetPath(Value object, const std::vector<Value>& path) {
  for (const Value& part : path) object = GetItem(object, part);
  return object;
}

}  // namespace ekvi::jinja
