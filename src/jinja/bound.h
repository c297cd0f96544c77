// The arguments of a call by the names of what is called.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value.h"

namespace ekvi::jinja {

class Bound {
 public:
  // Fails, naming `function`, where there are too many arguments, unknown names, a name twice, or fewer than the first
  // `required`. The arguments must outlive it.
  Bound(std::string_view function, const CallArguments& arguments, std::initializer_list<std::string_view> names,
        size_t required = 0);

  // Null where it was not given.
  const Value* operator[](size_t index) const { return values_[index]; }
  bool Has(size_t index) const { return values_[index] != nullptr; }
  // Given and not none.
  bool HasValue(size_t index) const { return Has(index) && !values_[index]->IsNone(); }
  Value Or(size_t index, Value fallback) const { return Has(index) ? *values_[index] : fallback; }
  bool Flag(size_t index, bool fallback) const;
  // Fail where the value has another type.
  int64_t Integer(size_t index, int64_t fallback) const;
  std::string Text(size_t index, std::string_view fallback) const;

 private:
  std::string function_;
  std::vector<const Value*> values_;
};

}  // namespace ekvi::jinja
