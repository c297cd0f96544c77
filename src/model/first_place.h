// The first of the places that threads find, whoever finds it and when: which value of a tensor an error names must not
// depend on how the threads went.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace ekvi::model {

class FirstPlace {
 public:
  // From any thread; `place` is at least 0.
  void Note(int64_t place) {
    int64_t before = first_.load(std::memory_order_relaxed);
    while (place < before && !first_.compare_exchange_weak(before, place, std::memory_order_relaxed)) {
    }
  }
  // Once the threads are done; nothing where none was noted.
  std::optional<int64_t> place() const {
    const int64_t first = first_.load(std::memory_order_relaxed);
    return first == kNowhere ? std::nullopt : std::optional(first);
  }

 private:
  static constexpr int64_t kNowhere = INT64_MAX;
  std::atomic<int64_t> first_{kNowhere};
};

}  // namespace ekvi::model
