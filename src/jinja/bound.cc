#include "jinja/bound.h"

#include <fmt/format.h>

#include <algorithm>

#include "jinja/failure.h"
#include "jinja/operators.h"

namespace ekvi::jinja {

Bound::Bound(std::string_view function, const CallArguments& arguments, std::initializer_list<std::string_view> names,
             size_t required)
    : function_(function), values_(names.size(), nullptr) {
  if (arguments.positional.size() > names.size()) {
    Fail(
        fmt::format("{}() takes at most {} arguments, {} given", function_, names.size(), arguments.positional.size()));
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto* found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) Fail(fmt::format("{}() got an unexpected keyword argument '{}'", function_, name));
    const Value*& place = values_[static_cast<size_t>(found - names.begin())];
    if (place != nullptr) Fail(fmt::format("{}() got multiple values for argument '{}'", function_, name));
    place = &value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!Has(i)) Fail(fmt::format("{}() missing required argument '{}'", function_, *(names.begin() + i)));
  }
}

bool Bound::Flag(size_t index, bool fallback) const { return Has(index) ? Truth(*values_[index]) : fallback; }

int64_t Bound::Integer(size_t index, int64_t fallback) const {
  if (!Has(index)) return fallback;
  const Value& value = *values_[index];
  RequireDefined(value);
  if (value.IsIntegral()) return value.integer();
  Fail(fmt::format("{}(): '{}' object cannot be interpreted as an integer", function_, TypeName(value)));
}

std::string Bound::Text(size_t index, std::string_view fallback) const {
  if (!Has(index)) return std::string(fallback);
  const Value& value = *values_[index];
  RequireDefined(value);
  if (value.IsText()) return value.text();
  Fail(fmt::format("{}() argument must be str, not {}", function_, TypeName(value)));
}

}  // namespace ekvi::jinja
