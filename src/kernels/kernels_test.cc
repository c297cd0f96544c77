// Goal: a target is there exactly where the processor has its instructions, the best one is the default, and one name
// means one target everywhere. Method: what is asked of the processor against what the dispatcher says, for all
// targets.
#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include "base/cpu.h"
#include "ekvi/error.h"
#include "ekvi/machine.h"
#include "kernels/blocks.h"
#include "kernels/kernels_testing.h"
#include "kernels/targets.h"

namespace ekvi::kernels {
namespace {

TEST(Targets, AreThereWhereTheProcessorHasTheirInstructions) {
  EXPECT_TRUE(TargetAvailable(Target::kScalar));
  EXPECT_EQ(TargetAvailable(Target::kAvx2), base::CpuHasAvx2());
  EXPECT_EQ(TargetAvailable(Target::kAvx2Vnni), base::CpuHasAvxVnni() || base::CpuHasAvx512Vnni());
  EXPECT_EQ(TargetAvailable(Target::kAvx512), base::CpuHasAvx512());
  EXPECT_EQ(TargetAvailable(Target::kAvx512Vnni), base::CpuHasAvx512Vnni());
}

TEST(Targets, AreListedByTheMachineBestFirstAndTheFirstIsTheDefault) {
  std::vector<std::string> names;
  for (const Target target : TargetsHere()) names.insert(names.begin(), std::string(TargetName(target)));
  EXPECT_EQ(names, DescribeMachine().targets);
  EXPECT_EQ(TargetName(ParseTarget("")), names.front());
}

TEST(Targets, NamesAreParsedOrRefused) {
  for (const Target target : kTargets) {
    if (TargetAvailable(target)) {
      EXPECT_EQ(ParseTarget(TargetName(target)), target);
      continue;
    }
    try {
      ParseTarget(TargetName(target));
      ADD_FAILURE() << TargetName(target);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << TargetName(target);
    }
  }
  EXPECT_THROW(ParseTarget("sse9"), Error);
  EXPECT_THROW(ParseTarget("avx2_vnn"), Error);
}

#if defined(__x86_64__)
TEST(Targets, WithVnniHaveTheFloatKernelsOfThoseWithout) {
  for (const auto& [vnni, plain] :
       {std::pair{Target::kAvx2Vnni, Target::kAvx2}, std::pair{Target::kAvx512Vnni, Target::kAvx512}}) {
    if (!TargetAvailable(vnni)) continue;
    EXPECT_EQ(&TableFor<float>(vnni), &TableFor<float>(plain));
    EXPECT_EQ(&TableFor<double>(vnni), &TableFor<double>(plain));
    EXPECT_EQ(BlockTableFor(vnni).product, BlockTableFor(plain).product);
    EXPECT_NE(BlockTableFor(vnni).product_int8, BlockTableFor(plain).product_int8);
  }
}

TEST(Targets, Avx2VnniTakesTheEncodingThatTheProcessorHas) {
  const BlockTable* table = TargetAvailable(Target::kAvx2Vnni) ? &BlockTableFor(Target::kAvx2Vnni) : nullptr;
  const BlockTable* evex = base::CpuHasAvx512Vnni() ? &Avx2VnniEvexBlocks() : nullptr;
  EXPECT_EQ(table, base::CpuHasAvxVnni() ? &Avx2VnniBlocks() : evex);
}
#endif

}  // namespace
}  // namespace ekvi::kernels
