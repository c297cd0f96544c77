#include "files/reader_names.h"

#include <algorithm>

namespace ekvi::files {

ReaderNames::ReaderNames(const std::vector<std::string_view>& names) {
  sorted_.reserve(names.size());
  for (uint32_t i = 0; i < names.size(); ++i) sorted_.push_back({names[i], i});
  std::ranges::sort(sorted_, [](const Entry& a, const Entry& b) {
    const int order = a.name.compare(b.name);
    return order < 0 || (order == 0 && a.index < b.index);
  });
}

std::optional<uint32_t> ReaderNames::Find(std::string_view name) const {
  const auto place = std::ranges::lower_bound(sorted_, name, {}, &Entry::name);
  if (place == sorted_.end() || place->name != name) return std::nullopt;
  return place->index;
}

std::optional<uint32_t> ReaderNames::Duplicate() const {
  std::optional<uint32_t> earliest;
  for (size_t i = 1; i < sorted_.size(); ++i) {
    if (sorted_[i].name != sorted_[i - 1].name) continue;
    earliest = std::min(earliest.value_or(sorted_[i].index), sorted_[i].index);
  }
  return earliest;
}

}  // namespace ekvi::files
