// For tests: a call must throw ekvi::Error of a code, with a message that names certain things.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string_view>

#include "ekvi/error.h"

namespace ekvi::files {

inline void ExpectError(ErrorCode code, std::initializer_list<std::string_view> named,
                        const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "no error, wanted one that names " << *named.begin();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    EXPECT_EQ(error.summary().find('\n'), std::string::npos);
    for (const std::string_view name : named) {
      EXPECT_NE(std::string_view(error.what()).find(name), std::string_view::npos)
          << "'" << name << "' in: " << error.what();
    }
  }
}

}  // namespace ekvi::files
