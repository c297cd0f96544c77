// What must hold before the first step of a call, so that a refusal comes before any work and changes nothing.
#pragma once

#include <cstdint>
#include <span>

#include "engine/sequence.h"
#include "engine/step_model.h"

namespace ekvi::engine {

// Tokens a sequence of this model in this cache may hold: positions 0 … Context() - 1 exist.
int64_t Context(const StepModel& model, const KvCache& cache);

// Errors: kInvalidArgument for a token outside the vocabulary, naming its index in `tokens`, its id and the vocabulary;
// kCapacity where sequence and tokens together exceed the context, with the three numbers.
void CheckTokens(const StepModel& model, const Sequence& sequence, std::span<const int32_t> tokens);

}  // namespace ekvi::engine
