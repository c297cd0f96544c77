// Filters by name.
#pragma once

#include <span>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

using FilterFunction = Value (*)(Renderer& renderer, const Value& input, const CallArguments& arguments);

struct FilterEntry {
  std::string_view name;
  FilterFunction function;
};

// Null where there is none of that name.
FilterFunction FindFilter(std::string_view name);

// The parts of the table, one for each file.
std::span<const FilterEntry> TextFilters();
std::span<const FilterEntry> NumberFilters();
std::span<const FilterEntry> ListFilters();
std::span<const FilterEntry> SelectFilters();

}  // namespace ekvi::jinja
