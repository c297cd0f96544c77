// `object.name` and `object[key]`, as Jinja2 finds them in its restricted environment: a dot looks for a method first
// and then for an item, brackets the other way round. What is nowhere is undefined; what could change a value is
// refused when it is used.
#pragma once

#include <optional>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

Value GetAttribute(const Value& object, std::string_view name);
Value GetItem(const Value& object, const Value& key);

// What attribute filters take: "a.b.0" goes from item to item. `attribute` is a text or an integer.
std::vector<Value> AttributePath(const Value& attribute);
Value GetPath(Value object, const std::vector<Value>& path);

}  // namespace ekvi::jinja
