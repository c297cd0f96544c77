// Memory for arenas and packed weights: zeroed, aligned to 2 MiB when large, on huge pages where the system allows.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "base/memory_limits.h"

namespace ekvi::base {

// What whoever asks for memory knows and this layer does not. The texts outlive what is made with them.
struct MemoryTerms {
  std::string_view what = "a buffer";  // "not enough memory for a buffer of … bytes"
  // What the user can do about it.
  std::string_view hint = "less at a time, other programs closed, or a machine with more memory";
  MemoryLimits (*limits)() = [] { return ReadMemoryLimits(); };  // another for tests
};

// Owns `size()` bytes, zeroed when they were got. Pages are committed when first touched. Movable; what was moved from
// is empty.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // Page aligned; from 2 MiB on, aligned to 2 MiB. Zero bytes give an empty buffer (data() null). Error(kCapacity) with
  // the bytes wanted where the system gives no address range, or where the machine and the cgroup do not have so much
  // available now (checked from 14 MiB on: the kernel would promise it and kill the process at first touch). Memory
  // promised before but not yet touched counts as available.
  explicit AlignedBuffer(size_t bytes, const MemoryTerms& terms = {});
  AlignedBuffer(AlignedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(data_.get());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_.get());
  }

 private:
  friend class Arena;
  std::shared_ptr<std::byte> data_;  // of an arena's piece: keeps the whole stretch
  size_t size_ = 0;
};

// Buffers side by side, so that many small ones lie on huge pages as one large one does. Memory is mapped a stretch
// (14 MiB) at a time and given back when the last buffer of the stretch is gone; buffers may outlive the arena. Larger
// ones have memory of their own. One thread at a time.
class Arena {
 public:
  explicit Arena(const MemoryTerms& terms = {}) : terms_(terms) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Aligned to 64 bytes. Errors as AlignedBuffer; a stretch is large enough for all memory taken here to be checked.
  // After one the arena is as it was: what still fits its stretch is given.
  AlignedBuffer Take(size_t bytes);

 private:
  void LetTailGo() noexcept;

  MemoryTerms terms_;
  AlignedBuffer stretch_;
  size_t used_ = 0;  // of the stretch
};

}  // namespace ekvi::base
