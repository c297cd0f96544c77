// For tests: shared material, and the one reason to skip for want of it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "shared_folder.h"

// None of it is on this machine, as in a clone of the repository alone. Where it is, a path that is missing fails the
// test.
#define EKVI_SKIP_WITHOUT(path)                                                                              \
  if (!std::filesystem::exists(ekvi::testing::SharedPath("")))                                               \
    GTEST_SKIP() << "no shared material on this machine: set EKVI_SHARED, or put it beside the source tree"; \
  ASSERT_TRUE(std::filesystem::exists(path)) << (path)
