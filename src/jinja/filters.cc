#include "jinja/filters.h"

#include <map>

namespace ekvi::jinja {

FilterFunction FindFilter(std::string_view name) {
  static const auto table = [] {
    std::map<std::string_view, FilterFunction> filters;
    for (const auto part : {TextFilters(), NumberFilters(), ListFilters(), SelectFilters()}) {
      for (const FilterEntry& entry : part) filters.emplace(entry.name, entry.function);
    }
    return filters;
  }();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace ekvi::jinja
