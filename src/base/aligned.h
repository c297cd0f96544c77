// Memory for arenas and packed weights: zeroed, aligned to 2 MiB when large, on huge pages where the system allows.
#pragma once

#include <cstddef>
#include <memory>

namespace ekvi::base {

struct Unmap {
  size_t bytes = 0;
  void operator()(std::byte* data) const noexcept;
};

// Owns `size()` zeroed bytes, page aligned; from 2 MiB on, aligned to 2 MiB. Pages are committed when first touched.
// Movable; what was moved from is empty.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  // Zero bytes give an empty buffer (data() null). Error(kCapacity) with the bytes wanted where the system gives no
  // address range, or where the machine and the cgroup do not have so much available now (checked from 16 MiB on: the
  // kernel would promise it and kill the process at first touch). Memory promised before but not yet touched counts as
  // available.
  explicit AlignedBuffer(size_t bytes);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  size_t size() const { return data_ ? data_.get_deleter().bytes : 0; }
  template <typename T>
  T* as() { return reinterpret_cast<T*>(data_.get()); }
  template <typename T>
  const T* as() const { return reinterpret_cast<const T*>(data_.get()); }

 private:
  std::unique_ptr<std::byte, Unmap> data_;
};

}  // namespace ekvi::base
