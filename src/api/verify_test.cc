// Goal: the law holds for real models on every path, and the verifier sees each fault that is put into the engine.
// Method: the same calls as `ekvi verify`, for the embedded model and stories260K; logits hashes compared with those of
// the repository, which hold on every machine and target.
#include "ekvi/verify.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "ekvi/error.h"
#include "ekvi/machine.h"
#include "ekvi/session.h"
#include "shared_path.h"

namespace ekvi {
namespace {

void ExpectAllIdentical(const VerifyReport& report) {
  EXPECT_TRUE(report.ok);
  EXPECT_GE(report.paths.size(), 12u);
  for (const PathResult& path : report.paths) EXPECT_TRUE(path.identical) << path.difference;
}

TEST(Verify, EmbeddedModel_GivesIdenticalBitsOnAllPaths) { ExpectAllIdentical(Verify(Model::Embedded(), {})); }

TEST(Verify, Stories260K_GivesIdenticalBitsOnAllPaths) {
  ExpectAllIdentical(Verify(Model::Load(testing::SharedPath("models/stories260K.gguf")), {}));
}

TEST(Verify, F32Arithmetic_OfQuantizedWeights_GivesIdenticalBitsOnAllPaths) {
  ExpectAllIdentical(Verify(Model::Embedded({.compute = Compute::kF32}), {.tokens = 300, .greedy = 16}));
}

TEST(Verify, F64Arithmetic_GivesIdenticalBitsOnAllPaths) {
  ExpectAllIdentical(Verify(Model::Embedded({.compute = Compute::kF64}), {.tokens = 300, .greedy = 16}));
}

TEST(Verify, EveryInjectedFault_IsCaught) {
  const auto model = Model::Embedded();
  ASSERT_GE(FaultNames().size(), 8u);
  for (const FaultInfo& fault : FaultNames()) {
    const VerifyReport report = Verify(model, {.tokens = 300, .greedy = 8, .fault = std::string(fault.name)});
    EXPECT_FALSE(report.ok) << fault.name;
    bool named = false;
    for (const PathResult& path : report.paths) named = named || (!path.identical && !path.difference.empty());
    EXPECT_TRUE(named) << fault.name;
  }
  EXPECT_TRUE(Verify(model, {.tokens = 64, .greedy = 4}).ok) << "a fault outlived its run";
}

// "hash  name", a line each; lines that begin with # are comments.
std::map<std::string, std::string> KnownHashes() {
  std::ifstream file(std::filesystem::path(EKVI_SOURCE_DIR) / "tests" / "logits.sha256");
  std::map<std::string, std::string> hashes;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const size_t blank = line.find("  ");
    hashes[line.substr(blank + 2)] = line.substr(0, blank);
  }
  return hashes;
}

void ExpectKnownHash(const std::string& name, const std::shared_ptr<const Model>& model) {
  const std::map<std::string, std::string> known = KnownHashes();
  ASSERT_TRUE(known.contains(name));
  for (const std::string& target : DescribeMachine().targets) {
    EXPECT_EQ(ReferenceSha256(model, {.session = {.target = target}}), known.at(name)) << name << " on " << target;
  }
}

TEST(Verify, LogitsOfKnownModels_HaveTheHashesOfTheRepositoryOnEveryTarget) {
  ExpectKnownHash("embedded f32", Model::Embedded({.compute = Compute::kF32}));
  ExpectKnownHash("embedded int8", Model::Embedded({.compute = Compute::kInt8}));
  ExpectKnownHash("stories260K f32",
                  Model::Load(testing::SharedPath("models/stories260K.gguf"), {.compute = Compute::kF32}));
}

TEST(Verify, UnknownFault_IsRefused) { EXPECT_THROW(Verify(Model::Embedded(), {.fault = "no-such"}), Error); }

}  // namespace
}  // namespace ekvi
