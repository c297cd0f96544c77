// EKVI_CHECK: a broken invariant of ekvi itself. On in every build; prints both values and aborts.
#pragma once

#include <string>

namespace ekvi::base {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const std::string& values);

}  // namespace ekvi::base

#define EKVI_CHECK(condition)                                        \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::ekvi::base::CheckFailed(__FILE__, __LINE__, #condition, ""); \
  } while (false)

// EKVI_CHECK_OP(==, a, b): both sides are integers.
#define EKVI_CHECK_OP(op, a, b)                                                       \
  do {                                                                                \
    if (!((a)op(b))) [[unlikely]] {                                                   \
      ::ekvi::base::CheckFailed(__FILE__, __LINE__, #a " " #op " " #b,                \
                                ::std::to_string(a) + " and " + ::std::to_string(b)); \
    }                                                                                 \
  } while (false)
