#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace ekvi::base {

void CheckFailed(const char* file, int line, const char* condition, const std::string& values) {
  std::fprintf(stderr, "ekvi: broken invariant (a bug in ekvi): %s:%d: %s%s%s\n", file, line, condition,
               values.empty() ? "" : ": ", values.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace ekvi::base
