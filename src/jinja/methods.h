// Methods of texts, lists, tuples, dicts and numbers by name.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

using MethodFunction = Value (*)(const Value& self, const CallArguments& arguments);

struct MethodEntry {
  std::string_view name;
  MethodFunction function;  // null: changes the value, which templates may not
};

std::span<const MethodEntry> TextMethods();
std::span<const MethodEntry> ListMethods();
std::span<const MethodEntry> DictMethods();

// The method bound to `self`, or undefined where it is one that changes it. Nothing where it has none of that name.
std::optional<Value> FindMethod(const Value& self, std::string_view name);

}  // namespace ekvi::jinja
