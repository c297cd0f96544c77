// The options that say how tokens are chosen and when a text ends.
#pragma once

#include "cli/arguments.h"
#include "cli/option.h"
#include "ekvi/sampling.h"

namespace ekvi::cli {

const OptionGroup& SamplingGroup();

// What they ask for, with --seed. Error(kInvalidArgument) for a bias that is none.
SamplingOptions SamplingOf(const Arguments& arguments);
// Error(kInvalidArgument) for a bias of a token that a model with so many does not have.
void CheckBiases(const SamplingOptions& sampling, int vocabulary);
// Error(kInvalidArgument) for a stop text that is empty or not UTF-8.
StopOptions StopsOf(const Arguments& arguments);

}  // namespace ekvi::cli
