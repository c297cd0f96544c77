// The names of a file's entries: finds one, and the first that stands twice. Sorted, not hashed, so that no choice of
// names makes it slow: n log n comparisons whatever the file holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ekvi::files {

class ReaderNames {
 public:
  ReaderNames() = default;
  // names[i] is that of entry i; the bytes must outlive this.
  explicit ReaderNames(const std::vector<std::string_view>& names);

  std::optional<uint32_t> Find(std::string_view name) const;
  // The earliest entry whose name an entry before it has.
  std::optional<uint32_t> Duplicate() const;

 private:
  struct Entry {
    std::string_view name;
    uint32_t index;
  };
  std::vector<Entry> sorted_;
};

}  // namespace ekvi::files
