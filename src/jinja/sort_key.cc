#include "jinja/sort_key.h"

#include <algorithm>

#include "jinja/attributes.h"
#include "jinja/operators.h"
#include "jinja/text.h"

namespace ekvi::jinja {

SortKey::SortKey(const Value& attribute, Case letters) : letters_(letters) {
  if (attribute.IsNone()) return;
  if (!attribute.IsText()) {
    paths_.push_back({attribute});
    return;
  }
  std::string_view rest = attribute.text();
  while (true) {
    const size_t end = std::min(rest.find(','), rest.size());
    paths_.push_back(AttributePath(Value::Of(rest.substr(0, end))));
    if (end == rest.size()) return;
    rest.remove_prefix(end + 1);
  }
}

Value SortKey::Fold(Value value) const {
  return letters_ == Case::kIgnored && value.IsText() ? Value::Of(Lower(value.text())) : value;
}

Value SortKey::One(const Value& item) const { return Fold(Plain(item, nullptr)); }

Value SortKey::Plain(const Value& item, const Value* fallback) const {
  if (paths_.empty()) return item;
  Value value = item;
  for (const Value& part : paths_[0]) {
    value = GetItem(value, part);
    if (fallback != nullptr && value.IsUndefined()) value = *fallback;
  }
  return value;
}

Value SortKey::Several(const Value& item) const {
  if (paths_.empty()) return Value::Tuple({Fold(item)});
  Items parts;
  for (const auto& path : paths_) parts.push_back(Fold(GetPath(item, path)));
  return Value::Tuple(std::move(parts));
}

Items Sorted(Items items, const std::function<Value(const Value&)>& key, bool backward) {
  std::vector<std::pair<Value, size_t>> order;
  order.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) order.emplace_back(key(items[i]), i);
  // Python keeps the order of equal items also where it sorts backward.
  std::stable_sort(order.begin(), order.end(), [&](const auto& left, const auto& right) {
    return backward ? Less(right.first, left.first) : Less(left.first, right.first);
  });
  Items sorted;
  sorted.reserve(items.size());
  for (const auto& each : order) sorted.push_back(std::move(items[each.second]));
  return sorted;
}

}  // namespace ekvi::jinja
