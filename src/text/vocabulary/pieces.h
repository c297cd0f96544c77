// The texts of a vocabulary by id, one behind the other in one place: 4 bytes each beside the text.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace ekvi::text {

// Never changes. Copies share the texts; views stay valid as long as one of them lives.
class Pieces {
 public:
  Pieces() : Pieces(std::span<const std::string_view>()) {}
  // Copies the texts. Error(kUnsupported) over 4 GiB together.
  explicit Pieces(std::span<const std::string_view> texts);

  size_t size() const { return ends_->size() - 1; }
  // index < size().
  std::string_view operator[](size_t index) const {
    const uint32_t begin = (*ends_)[index];
    return {bytes_.get() + begin, (*ends_)[index + 1] - begin};
  }

 private:
  std::shared_ptr<const char[]> bytes_;
  std::shared_ptr<const std::vector<uint32_t>> ends_;  // of each text; 0 in front
};

}  // namespace ekvi::text
