// What items are ordered and grouped by: themselves or an attribute, with or without regard to case.
#pragma once

#include <functional>
#include <vector>

#include "jinja/value.h"

namespace ekvi::jinja {

enum class Case { kMatters, kIgnored };
inline Case CaseOf(bool matters) { return matters ? Case::kMatters : Case::kIgnored; }

class SortKey {
 public:
  // `attribute`: none for the item itself, a path ("a.b"), for Several also paths with commas between them.
  SortKey(const Value& attribute, Case letters);

  Value One(const Value& item) const;
  // A tuple of all attributes; the item itself where there is none.
  Value Several(const Value& item) const;
  // The attribute as it is; `fallback` for a missing part of it, where there is one.
  Value Plain(const Value& item, const Value* fallback) const;

 private:
  Value Fold(Value value) const;

  std::vector<std::vector<Value>> paths_;
  Case letters_;
};

// The items in the order of key(item), equal ones in the order they have.
Items Sorted(Items items, const std::function<Value(const Value&)>& key, bool backward);

}  // namespace ekvi::jinja
