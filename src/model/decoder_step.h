// What a decoder is asked to do in one step, and whether it may.
#pragma once

#include <cstdint>
#include <span>

#include "cache/step.h"
#include "ekvi/cache.h"
#include "model/config.h"

namespace ekvi::model {

// Throws where a step cannot be done: kInvalidArgument for a token outside the vocabulary (with row and index), a row
// outside the cache or named twice, a cache of another layout (naming both), a logits_count past the tokens, logits
// wanted without exactly one place for them; kCapacity for positions past the model's context, with the numbers.
void CheckStep(const DecoderConfig& config, const CacheLayout& layout, const KvCache& cache,
               std::span<const StepRow> rows, const LogitsOut& out);

}  // namespace ekvi::model
