// Goal: every fault has one name and comes into force only while asked for. Method: the whole list.
#include "base/fault.h"

#include <gtest/gtest.h>

#include <set>

namespace ekvi::base {
namespace {

TEST(Fault, Names_AreUniqueAndParseBack) {
  std::set<std::string_view> names;
  for (const FaultName& entry : AllFaults()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_EQ(ParseFault(entry.name), entry.fault);
    EXPECT_FALSE(entry.what.empty());
    EXPECT_EQ(entry.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Fault::kTargetRounding));
}

TEST(Fault, UnknownName_GivesNothing) {
  EXPECT_FALSE(ParseFault("").has_value());
  EXPECT_FALSE(ParseFault("none").has_value());
  EXPECT_FALSE(ParseFault("mask-off-by-on").has_value());
}

TEST(Fault, Scope_PutsInForceAndTakesBack) {
  EXPECT_FALSE(Injected(Fault::kChunkMerge));
  {
    const ScopedFault scope(Fault::kChunkMerge);
    EXPECT_TRUE(Injected(Fault::kChunkMerge));
    EXPECT_FALSE(Injected(Fault::kFutureLeak));
  }
  EXPECT_FALSE(Injected(Fault::kChunkMerge));
}

}  // namespace
}  // namespace ekvi::base
