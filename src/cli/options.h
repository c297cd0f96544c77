// The options that several commands share: each is defined once, here, and means the same everywhere.
#pragma once

#include "cli/option.h"

namespace ekvi::cli {

const OptionGroup& ModelGroup();    // which model
const OptionGroup& ComputeGroup();  // in which arithmetic
const OptionGroup& CacheGroup();    // how much the cache holds, in which types
const OptionGroup& RunGroup();      // how the work is cut and stored; changes no bit of a result
const OptionGroup& ThreadsGroup();  // the last two of those: --threads, --target
const OptionGroup& SeedGroup();
const OptionGroup& OutputGroup();  // where the answer goes (-o, the first of them) and what is said besides
// OutputGroup without -o, for a command whose -o is its product.
const OptionGroup& ReportGroup();

// All but ReportGroup, in the order of the help.
std::span<const OptionGroup* const> SharedGroups();

}  // namespace ekvi::cli
