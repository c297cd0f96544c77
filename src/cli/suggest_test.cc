// Goal: a slip of the finger finds the word that was meant, and a strange word finds none. Method: each kind of slip,
// and the distance against its definition on small words.
#include "cli/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace ekvi::cli {
namespace {

const std::vector<std::string> kWords = {"--temp", "--top-k", "--top-p", "--tokens", "--threads", "--target"};

TEST(Suggest, EditDistance_CountsEachKindOfSlipOnce) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("abc", "abc"), 0);
  EXPECT_EQ(EditDistance("abc", "abxc"), 1);
  EXPECT_EQ(EditDistance("abc", "ac"), 1);
  EXPECT_EQ(EditDistance("abc", "axc"), 1);
  EXPECT_EQ(EditDistance("abc", "acb"), 1);
  EXPECT_EQ(EditDistance("ca", "abc"), 3) << "the restricted form edits no place twice";
}

TEST(Suggest, EditDistance_IsSymmetric) {
  for (const std::string& a : kWords) {
    for (const std::string& b : kWords) EXPECT_EQ(EditDistance(a, b), EditDistance(b, a));
  }
}

TEST(Suggest, Closest_FindsTheNearestWord) {
  EXPECT_EQ(Closest("--tmp", kWords), "--temp");
  EXPECT_EQ(Closest("--tpo-k", kWords), "--top-k");
  EXPECT_EQ(Closest("--threds", kWords), "--threads");
}

TEST(Suggest, Closest_TakesABeginningThatIsUnique) {
  EXPECT_EQ(Closest("--thr", kWords), "--threads");
  EXPECT_EQ(Closest("ta", {{"alpha", "tango", "total"}}), "tango");
}

TEST(Suggest, Closest_TakesTheLongestThatTheWordGoesOnFrom) {
  EXPECT_EQ(Closest("--temperature", kWords), "--temp");
  EXPECT_EQ(Closest("--threads-batch", kWords), "--threads");
  EXPECT_EQ(Closest("--kv-cache-type", {{"--kv", "--kv-cache"}}), "--kv-cache");
  EXPECT_EQ(Closest("--kv-cache-type-of-keys", {{"--kv"}}), std::nullopt) << "less than a third of the word";
  EXPECT_EQ(Closest("upwards", {{"up"}}), std::nullopt);
}

TEST(Suggest, Closest_IsSilentAboutStrangeWords) {
  EXPECT_EQ(Closest("xylophone", kWords), std::nullopt);
  EXPECT_EQ(Closest("", kWords), std::nullopt);
  EXPECT_EQ(Closest("--temp", {}), std::nullopt);
  EXPECT_EQ(Closest(std::string(1 << 20, 'x'), kWords), std::nullopt);
}

}  // namespace
}  // namespace ekvi::cli
