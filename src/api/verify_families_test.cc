// Goal: every path of the law gives identical bits for every family, with its windows, sinks and experts. Method: the
// same call as `ekvi verify`, for the shared small models as folders.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "ekvi/error.h"
#include "ekvi/session.h"
#include "ekvi/verify.h"
#include "shared_path.h"

namespace ekvi {
namespace {

std::vector<std::string> TinyModels() {
  std::vector<std::string> names;
  const std::filesystem::path folder = testing::SharedPath("models/tiny");
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class VerifyFamily : public ::testing::TestWithParam<std::string> {};

TEST_P(VerifyFamily, AllPaths_GiveIdenticalBits) {
  const auto model = Model::Load(testing::SharedPath("models/tiny") / GetParam());
  const VerifyReport report = Verify(model, {.tokens = 40, .greedy = 6});
  EXPECT_TRUE(report.ok);
  for (const PathResult& path : report.paths) EXPECT_TRUE(path.identical) << path.difference;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VerifyFamily);
INSTANTIATE_TEST_SUITE_P(Tiny, VerifyFamily, ::testing::ValuesIn(TinyModels()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Model, FolderWithoutTokenizer_ServesIdsAndRefusesText) {
  const std::filesystem::path folder = testing::SharedPath("models/bad/good");
  EKVI_SKIP_WITHOUT(folder);
  const auto model = Model::Load(folder);
  EXPECT_FALSE(model->has_tokenizer());
  Session session(model);
  const std::vector<int32_t> tokens = {1, 2, 3};
  std::vector<double> logits(tokens.size() * static_cast<size_t>(model->info().vocabulary));
  session.Logits(tokens, logits);
  EXPECT_NE(logits, std::vector<double>(logits.size(), 0.0));
  EXPECT_THROW(session.Generate("text", {}, {}), Error);
  EXPECT_THROW(session.Generate(tokens, {}, {}), Error);
}

// LongRoPE: the default is the length before it was stretched; a longer session takes other factors throughout.
TEST(Model, ContextOfASession_PicksTheFactorsOfLongRope) {
  const std::filesystem::path folder = testing::SharedPath("models/tiny/phi3-longrope");
  EKVI_SKIP_WITHOUT(folder);
  const auto model = Model::Load(folder, {.compute = Compute::kF64});
  EXPECT_EQ(model->info().default_context, 256);
  EXPECT_EQ(model->info().context, 1024);
  const std::vector<int32_t> tokens = {3, 5, 7, 11, 13, 17, 19, 23};
  const auto logits = [&](int64_t context) {
    std::vector<double> out(tokens.size() * static_cast<size_t>(model->info().vocabulary));
    Session session(model, {.context = context});
    session.Logits(tokens, out);
    return out;
  };
  EXPECT_EQ(logits(0), logits(256));
  EXPECT_EQ(logits(0), logits(100));
  EXPECT_NE(logits(0), logits(257));
  EXPECT_EQ(logits(257), logits(1024));
}

}  // namespace
}  // namespace ekvi
