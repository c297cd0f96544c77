// Sixteen lanes in an array, every operation a loop over the scalar's: a vector type for tests, and an example of what
// math-inl.h asks of one.
#pragma once

#include <array>
#include <cstddef>

#include "numeric/scalar_ops.h"

namespace ekvi::testing {

// The scalar operations, beside the overloads below.
using numeric::Abs, numeric::CopySign, numeric::Fma, numeric::Less, numeric::Max, numeric::Min, numeric::Pow2,
    numeric::Round, numeric::Select;

template <typename T>
struct NaiveVector {
  using Lane = T;
  std::array<T, 16> lanes;
  explicit NaiveVector(T value) { lanes.fill(value); }
};

template <typename T>
struct NaiveMask {
  std::array<bool, 16> lanes;
};

template <typename T, typename Function>
NaiveVector<T> EachLane(const Function& function) {
  NaiveVector<T> result(0);
  for (size_t i = 0; i < 16; ++i) result.lanes[i] = function(i);
  return result;
}

template <typename T>
NaiveVector<T> operator+(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return a.lanes[i] + b.lanes[i]; });
}
template <typename T>
NaiveVector<T> operator-(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return a.lanes[i] - b.lanes[i]; });
}
template <typename T>
NaiveVector<T> operator*(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return a.lanes[i] * b.lanes[i]; });
}
template <typename T>
NaiveVector<T> operator/(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return a.lanes[i] / b.lanes[i]; });
}
template <typename T>
NaiveVector<T> operator-(NaiveVector<T> a) {
  return EachLane<T>([&](size_t i) { return -a.lanes[i]; });
}
template <typename T>
NaiveVector<T> Fma(NaiveVector<T> a, NaiveVector<T> b, NaiveVector<T> c) {
  return EachLane<T>([&](size_t i) { return Fma(a.lanes[i], b.lanes[i], c.lanes[i]); });
}
template <typename T>
NaiveVector<T> Abs(NaiveVector<T> a) {
  return EachLane<T>([&](size_t i) { return Abs(a.lanes[i]); });
}
template <typename T>
NaiveVector<T> Round(NaiveVector<T> a) {
  return EachLane<T>([&](size_t i) { return Round(a.lanes[i]); });
}
template <typename T>
NaiveVector<T> Max(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return Max(a.lanes[i], b.lanes[i]); });
}
template <typename T>
NaiveVector<T> Min(NaiveVector<T> a, NaiveVector<T> b) {
  return EachLane<T>([&](size_t i) { return Min(a.lanes[i], b.lanes[i]); });
}
template <typename T>
NaiveVector<T> CopySign(NaiveVector<T> magnitude, NaiveVector<T> sign) {
  return EachLane<T>([&](size_t i) { return CopySign(magnitude.lanes[i], sign.lanes[i]); });
}
template <typename T>
NaiveVector<T> Pow2(NaiveVector<T> n) {
  return EachLane<T>([&](size_t i) { return Pow2(n.lanes[i]); });
}
template <typename T>
NaiveMask<T> Less(NaiveVector<T> a, NaiveVector<T> b) {
  NaiveMask<T> mask;
  for (size_t i = 0; i < 16; ++i) mask.lanes[i] = Less(a.lanes[i], b.lanes[i]);
  return mask;
}
template <typename T>
NaiveVector<T> Select(NaiveMask<T> mask, NaiveVector<T> if_true, NaiveVector<T> if_false) {
  return EachLane<T>([&](size_t i) { return Select(mask.lanes[i], if_true.lanes[i], if_false.lanes[i]); });
}

}  // namespace ekvi::testing
