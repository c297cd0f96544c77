// Where shared material is: $EKVI_SHARED, else ../shared beside the source tree.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace ekvi::testing {

inline std::filesystem::path SharedPath(const std::filesystem::path& below) {
  const char* root = std::getenv("EKVI_SHARED");
  const std::filesystem::path beside = std::filesystem::path(EKVI_SOURCE_DIR) / ".." / "shared";
  return (root != nullptr ? std::filesystem::path(root) : beside) / below;
}

}  // namespace ekvi::testing
