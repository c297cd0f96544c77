// For tests: the targets of this machine and arrays that show when somebody writes past their end.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/kernels.h"
#include "numeric/convert.h"

namespace ekvi::kernels {

inline std::vector<Target> TargetsHere() {
  std::vector<Target> targets;
  for (const Target target : kTargets) {
    if (TargetAvailable(target)) targets.push_back(target);
  }
  return targets;
}

// `count` values between NaN guards, at an address that is aligned to the value only.
template <typename T>
class Guarded {
 public:
  explicit Guarded(int64_t count) : cells_(static_cast<size_t>(count) + 2 * kGuard, kNan), count_(count) {}
  T* data() { return cells_.data() + kGuard; }
  const T* data() const { return cells_.data() + kGuard; }
  T& operator[](int64_t i) { return data()[i]; }
  const T& operator[](int64_t i) const { return data()[i]; }
  int64_t size() const { return count_; }

  bool GuardsIntact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (cells_[i] == cells_[i] || cells_[cells_.size() - 1 - i] == cells_[cells_.size() - 1 - i]) return false;
    }
    return true;
  }
  bool SameBits(const Guarded& other) const {
    return std::memcmp(data(), other.data(), static_cast<size_t>(count_) * sizeof(T)) == 0;
  }
  void Fill(base::Random& random, double sigma = 1) {
    for (int64_t i = 0; i < count_; ++i) data()[i] = static_cast<float>(sigma * random.Normal());
  }

 private:
  static constexpr size_t kGuard = 17;
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> cells_;
  int64_t count_;
};

// Values in a storage type, one byte off any alignment.
class Stored {
 public:
  Stored(DType type, const std::vector<double>& values) : type_(type), bytes_(1 + DTypeBytes(type, values.size())) {
    numeric::Narrow(type, values.data(), bytes_.data() + 1, values.size());
  }
  const std::byte* data() const { return bytes_.data() + 1; }
  double at(int64_t i) const {
    double value;
    numeric::Widen(type_, data() + i * static_cast<int64_t>(DTypeBytes(type_, 1)), &value, 1);
    return value;
  }

 private:
  DType type_;
  std::vector<std::byte> bytes_;
};

}  // namespace ekvi::kernels
