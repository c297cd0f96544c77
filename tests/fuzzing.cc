#include "fuzzing.h"

#include <cstdint>
#include <cstdlib>
#include <fstream>

#include "base/utf8.h"
#include "ekvi/error.h"
#include "shared_folder.h"
#include "temporary_folder.h"

namespace ekvi::fuzzing {
namespace {

namespace fs = std::filesystem;

void WriteSeeds(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const std::string& seed : Seeds())
    std::ofstream(folder / std::to_string(number++), std::ios::binary).write(seed.data(), std::ssize(seed));
}

}  // namespace

bool Works(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    EKVI_CHECK(!error.summary().empty());
    EKVI_CHECK(error.summary().find('\n') == std::string::npos);
    EKVI_CHECK(!error.hint().empty());
    EKVI_CHECK(base::IsUtf8(error.what()));
    return false;
  }
}

std::vector<std::string> SharedFiles(const fs::path& folder, std::string_view ending, size_t bytes_max) {
  std::vector<std::string> contents;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(testing::SharedPath(folder), none)) {
    const bool wanted = entry.is_regular_file() && entry.path().string().ends_with(ending);
    if (wanted && entry.file_size() <= bytes_max) contents.push_back(testing::ContentOf(entry.path()));
  }
  return contents;
}

}  // namespace ekvi::fuzzing

// `foo_fuzz --seeds FOLDER` writes the seeds and ends; else the arguments are libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::string_view((*argv)[1]) != "--seeds") return 0;
  ekvi::fuzzing::WriteSeeds((*argv)[2]);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ekvi::fuzzing::Works([&] { ekvi::fuzzing::TryInput({reinterpret_cast<const char*>(data), size}); });
  return 0;
}
