// Arithmetic on sizes that cannot wrap: the result, or nothing.
#pragma once

#include <concepts>
#include <optional>

namespace ekvi::base {

template <std::integral T>
constexpr std::optional<T> CheckedMul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> CheckedAdd(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The least multiple of `unit` that is not below `value`; unit > 0.
template <std::unsigned_integral T>
constexpr std::optional<T> CheckedRoundUp(T value, T unit) {
  const T rest = value % unit;
  return rest == 0 ? std::optional<T>(value) : CheckedAdd<T>(value, unit - rest);
}

}  // namespace ekvi::base
