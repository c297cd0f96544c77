// Filters of lists and dicts that keep, cut, join and order items.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "jinja/attributes.h"
#include "jinja/bound.h"
#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/sort_key.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

Value Default(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("default", arguments, {"default_value", "boolean"});
  const bool missing = input.IsUndefined() || (bound.Flag(1, false) && !Truth(input));
  return missing ? bound.Or(0, Value::Of("")) : input;
}

Value LengthOf(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("length", arguments, {});
  return Value::Of(Length(input));
}

Value List(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("list", arguments, {});
  return Value::List(Iterate(input));
}

Value ItemsOf(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("items", arguments, {});
  if (input.IsUndefined()) return Value::Iterating("generator", {});
  if (!input.IsDict()) Fail("Can only get item pairs from a mapping.");
  return Value::Iterating("generator", input.dict().Pairs());
}

Value First(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("first", arguments, {});
  if (input.IsIterator()) {
    Value::Iterator& iterator = input.iterator();
    if (iterator.next < iterator.items.size()) return iterator.items[iterator.next++];
    return Value::MakeUndefined("No first item, sequence was empty.");
  }
  if (input.IsText() && !input.text().empty()) return GetItem(input, Value::Of(int64_t{0}));
  const Items items = Iterate(input);
  return items.empty() ? Value::MakeUndefined("No first item, sequence was empty.") : items.front();
}

Value Last(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("last", arguments, {});
  if (input.IsIterator()) Fail(fmt::format("'{}' object is not reversible", TypeName(input)));
  if (input.IsText() && !input.text().empty()) return GetItem(input, Value::Of(int64_t{-1}));
  const Items items = Iterate(input);
  return items.empty() ? Value::MakeUndefined("No last item, sequence was empty.") : items.back();
}

Value Join(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("join", arguments, {"d", "attribute"});
  const std::string separator = bound.Has(0) ? Str(*bound[0]) : "";
  const auto path = bound.HasValue(1) ? AttributePath(*bound[1]) : std::vector<Value>();
  std::string result;
  bool first = true;
  for (const Value& item : Iterate(input)) {
    if (!first) Append(result, separator);
    Append(result, Str(path.empty() ? item : GetPath(item, path)));
    first = false;
  }
  return Value::Of(std::move(result));
}

Value Reverse(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("reverse", arguments, {});
  if (input.IsText()) {
    std::string result;
    auto characters = Characters(input.text());
    for (auto each = characters.rbegin(); each != characters.rend(); ++each) result += *each;
    return Value::Of(std::move(result));
  }
  Items items = Iterate(input);
  std::reverse(items.begin(), items.end());
  if (input.IsIterator()) return Value::List(std::move(items));
  return Value::Iterating(input.IsList() ? "list_reverseiterator" : "reversed", std::move(items));
}

Value Sort(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  const SortKey key(bound.HasValue(2) ? *bound[2] : Value::MakeNone(), CaseOf(bound.Flag(1, false)));
  return Value::List(Sorted(
      Iterate(input), [&](const Value& item) { return key.Several(item); }, bound.Flag(0, false)));
}

Value DictSort(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = bound.Text(1, "key");
  if (by != "key" && by != "value") Fail("You can only sort by either \"key\" or \"value\"");
  RequireDefined(input);
  if (!input.IsDict()) Fail(fmt::format("'{}' object has no attribute 'items'", TypeName(input)));
  const SortKey key(Value::Of(int64_t{by == "key" ? 0 : 1}), CaseOf(bound.Flag(0, false)));
  return Value::List(Sorted(
      input.dict().Pairs(), [&](const Value& item) { return key.One(item); }, bound.Flag(2, false)));
}

Value Unique(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("unique", arguments, {"case_sensitive", "attribute"});
  const SortKey key(bound.HasValue(1) ? *bound[1] : Value::MakeNone(), CaseOf(bound.Flag(0, false)));
  std::set<std::string> seen;
  uint64_t bytes = 0;
  Items items;
  for (const Value& item : Iterate(input)) {
    std::string hash = HashKey(key.One(item));
    Step(6);  // a node of a tree
    CheckRoom(bytes += hash.size() + 128);
    if (seen.insert(std::move(hash)).second) items.push_back(item);
  }
  return Value::Iterating("generator", std::move(items));
}

template <bool kMaximum>
Value Extreme(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound(kMaximum ? "max" : "min", arguments, {"case_sensitive", "attribute"});
  const SortKey key(bound.HasValue(1) ? *bound[1] : Value::MakeNone(), CaseOf(bound.Flag(0, false)));
  const Items items = Iterate(input);
  if (items.empty()) return Value::MakeUndefined("No aggregated item, sequence was empty.");
  size_t best = 0;
  Value best_key = key.One(items[0]);
  for (size_t i = 1; i < items.size(); ++i) {
    Value each = key.One(items[i]);
    if (kMaximum ? Less(best_key, each, ">") : Less(each, best_key)) {
      best = i;
      best_key = std::move(each);
    }
  }
  return items[best];
}

Value Sum(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("sum", arguments, {"attribute", "start"});
  const auto path = bound.HasValue(0) ? AttributePath(*bound[0]) : std::vector<Value>();
  Value sum = bound.Or(1, Value::Of(int64_t{0}));
  if (sum.IsText()) Fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& item : Iterate(input)) sum = Apply(Binary::kAdd, sum, path.empty() ? item : GetPath(item, path));
  return sum;
}

Value Batch(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("batch", arguments, {"linecount", "fill_with"}, 1);
  const int64_t count = bound.Integer(0, 0);
  Items lines, line;
  for (Value& item : Iterate(input)) {
    if (static_cast<int64_t>(line.size()) == count) lines.push_back(Value::List(std::exchange(line, {})));
    line.push_back(std::move(item));
  }
  if (!line.empty()) {
    const int64_t missing = std::max<int64_t>(count, 0) - static_cast<int64_t>(line.size());
    if (bound.HasValue(1) && missing > 0) {
      StepItems(static_cast<uint64_t>(missing));
      line.insert(line.end(), static_cast<size_t>(missing), *bound[1]);
    }
    lines.push_back(Value::List(std::move(line)));
  }
  return Value::Iterating("generator", std::move(lines));
}

Value SliceInto(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("slice", arguments, {"slices", "fill_with"}, 1);
  const Items items = Iterate(input);
  const int64_t slices = bound.Integer(0, 0);
  if (slices == 0) Fail("integer division or modulo by zero");
  const auto length = static_cast<int64_t>(items.size());
  StepItems(static_cast<uint64_t>(std::max<int64_t>(slices, 0)) * 4);  // each becomes a list
  Items result;
  int64_t at = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const bool extra = i < length % slices;
    const int64_t end = at + length / slices + (extra ? 1 : 0);
    Items part(items.begin() + at, items.begin() + end);
    if (bound.HasValue(1) && !extra) part.push_back(*bound[1]);
    result.push_back(Value::List(std::move(part)));
    at = end;
  }
  return Value::Iterating("generator", std::move(result));
}

Value Attr(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("attr", arguments, {"name"}, 1);
  RequireDefined(input);
  if (input.IsDict()) {  // attributes only, no items
    const Value empty = Value::Of(Dict());
    Value found = GetAttribute(empty, bound.Text(0, ""));
    return found.IsUndefined() ? found : GetAttribute(input, bound.Text(0, ""));
  }
  return GetAttribute(input, bound.Text(0, ""));
}

constexpr FilterEntry kFilters[] = {
    {"attr", Attr},         {"batch", Batch}, {"count", LengthOf},    {"d", Default},          {"default", Default},
    {"dictsort", DictSort}, {"first", First}, {"items", ItemsOf},     {"join", Join},          {"last", Last},
    {"length", LengthOf},   {"list", List},   {"max", Extreme<true>}, {"min", Extreme<false>}, {"reverse", Reverse},
    {"slice", SliceInto},   {"sort", Sort},   {"sum", Sum},           {"unique", Unique},
};

}  // namespace

std::span<const FilterEntry> ListFilters() { return kFilters; }

}  // namespace ekvi::jinja
