// The options that say how tokens are chosen and when a text ends.
#pragma once

#include "cli/arguments.h"
#include "cli/option.h"
#include "ekvi/sampling.h"

namespace ekvi::cli {

const OptionGroup& SamplingGroup();

// What they ask for, with --seed. Error(kInvalidArgument) for a bias that is none.
SamplingOptions SamplingOf(const Arguments& arguments);
StopOptions StopsOf(const Arguments& arguments);

}  // namespace ekvi::cli
