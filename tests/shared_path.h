// Where tests find the shared material: $EKVI_SHARED, else ../shared beside the source tree.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace ekvi::testing {

inline std::filesystem::path SharedPath(const std::filesystem::path& below) {
  const char* root = std::getenv("EKVI_SHARED");
  const std::filesystem::path beside = std::filesystem::path(EKVI_SOURCE_DIR) / ".." / "shared";
  return (root != nullptr ? std::filesystem::path(root) : beside) / below;
}

}  // namespace ekvi::testing

// The one reason to skip for shared material: none of it is on this machine, as in a clone of the repository alone.
// Where it is, a path that is missing fails the test.
#define EKVI_SKIP_WITHOUT(path)                                                                              \
  if (!std::filesystem::exists(ekvi::testing::SharedPath("")))                                               \
    GTEST_SKIP() << "no shared material on this machine: set EKVI_SHARED, or put it beside the source tree"; \
  ASSERT_TRUE(std::filesystem::exists(path)) << (path)
