// Goal: the reference decoder's logits, hidden states, caches and classes come out within 1e-10, in one piece, token
// by token and in the file's cuts, contiguous and paged. Method: every shared file of that kind is replayed.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "law/golden.h"
#include "shared_path.h"

namespace ekvi::law {
namespace {

TEST(GoldenDecoder, EveryFile_IsReproduced) {
  const std::filesystem::path folder = testing::SharedPath("golden");
  EKVI_SKIP_WITHOUT(folder);
  double worst = 0;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with("decoder_")) continue;
    const double error = ReplayDecoder(files::SafetensorsFile::Open(entry.path()));
    EXPECT_LE(error, 1e-10) << entry.path();
    worst = std::max(worst, error);
    ++files;
  }
  std::printf("%d files, worst error %.3g\n", files, worst);
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace ekvi::law
