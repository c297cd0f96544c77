// Filters that apply filters, tests and attributes to each item.
#include <fmt/format.h>

#include "jinja/attributes.h"
#include "jinja/bound.h"
#include "jinja/failure.h"
#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/renderer.h"
#include "jinja/repr.h"
#include "jinja/sort_key.h"

namespace ekvi::jinja {
namespace {

std::string NameOf(const Value& value, std::string_view what) {
  if (!value.IsText()) Fail(fmt::format("the name of a {} must be str, not {}", what, TypeName(value)));
  return value.text();
}

// The arguments after the first `count`.
CallArguments After(const CallArguments& arguments, size_t count) {
  const auto begin = arguments.positional.begin() + static_cast<std::ptrdiff_t>(count);
  return {.positional = Items(begin, arguments.positional.end()), .named = arguments.named};
}

// map(attribute='a.b', default=x).
Value MapAttribute(const Items& items, const CallArguments& arguments) {
  const Bound bound("map", arguments, {"attribute", "default"}, 1);
  const auto path = AttributePath(*bound[0]);
  Items result;
  for (const Value& item : items) {
    Value value = item;
    for (const Value& part : path) {
      value = GetItem(value, part);
      if (bound.HasValue(1) && value.IsUndefined()) value = *bound[1];
    }
    result.push_back(std::move(value));
  }
  return Value::Iterating("generator", std::move(result));
}

bool HasAttribute(const CallArguments& arguments) {
  for (const auto& [name, value] : arguments.named) {
    if (name == "attribute") return arguments.positional.empty();
  }
  return false;
}

Value Map(Renderer& renderer, const Value& input, const CallArguments& arguments) {
  if (!Truth(input)) return Value::Iterating("generator", {});
  if (HasAttribute(arguments)) return MapAttribute(Iterate(input), arguments);
  if (arguments.positional.empty()) Fail("map requires a filter argument");
  const std::string name = NameOf(arguments.positional[0], "filter");
  const CallArguments rest = After(arguments, 1);
  Items result;
  for (const Value& item : Iterate(input)) result.push_back(renderer.CallFilter(name, item, rest));
  return Value::Iterating("generator", std::move(result));
}

enum class Look { kAtItem, kAtAttribute };

template <Look kLook, bool kKeep>
Value Select(Renderer& renderer, const Value& input, const CallArguments& arguments) {
  if (!Truth(input)) return Value::Iterating("generator", {});
  std::vector<Value> path;
  size_t at = 0;
  if (kLook == Look::kAtAttribute) {
    if (arguments.positional.empty()) Fail("Missing parameter for attribute name");
    path = AttributePath(arguments.positional[at++]);
  }
  const bool has_test = at < arguments.positional.size();
  const std::string test = has_test ? NameOf(arguments.positional[at++], "test") : "";
  const CallArguments rest = After(arguments, at);
  Items result;
  for (const Value& item : Iterate(input)) {
    const Value value = GetPath(item, path);
    const bool passes = has_test ? renderer.CallTest(test, value, rest) : Truth(value);
    if (passes == kKeep) result.push_back(item);
  }
  return Value::Iterating("generator", std::move(result));
}

// Pairs of a key and the items that have it, by rising keys.
Value GroupBy(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  const bool case_sensitive = bound.Flag(2, false);
  const SortKey plain(*bound[0], Case::kMatters), key(*bound[0], CaseOf(case_sensitive));
  const Value* fallback = bound.HasValue(1) ? bound[1] : nullptr;
  const auto key_of = [&](const Value& item) {
    const Value value = plain.Plain(item, fallback);
    return case_sensitive || !value.IsText() ? value : SortKey(Value::MakeNone(), Case::kIgnored).One(value);
  };
  Items groups, members;
  Value group_key;
  const auto flush = [&] {
    if (members.empty()) return;
    Value name = plain.Plain(members[0], fallback);
    groups.push_back(Value::Tuple({std::move(name), Value::List(std::exchange(members, {}))}));
  };
  for (Value& item : Sorted(Iterate(input), key_of, false)) {
    Value each = key_of(item);
    if (members.empty() || !Equal(each, group_key)) flush();
    group_key = std::move(each);
    members.push_back(std::move(item));
  }
  flush();
  return Value::List(std::move(groups));
}

constexpr FilterEntry kFilters[] = {
    {"groupby", GroupBy},
    {"map", Map},
    {"reject", Select<Look::kAtItem, false>},
    {"rejectattr", Select<Look::kAtAttribute, false>},
    {"select", Select<Look::kAtItem, true>},
    {"selectattr", Select<Look::kAtAttribute, true>},
};

}  // namespace

std::span<const FilterEntry> SelectFilters() { return kFilters; }

}  // namespace ekvi::jinja
