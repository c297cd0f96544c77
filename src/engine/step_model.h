// What the engine knows of a model: it turns tokens into logits and leaves their keys and values in a cache.
#pragma once

#include <cstdint>
#include <span>

#include "cache/step.h"
#include "ekvi/cache.h"

namespace ekvi::engine {

class StepModel {
 public:
  virtual ~StepModel() = default;
  virtual int vocabulary() const = 0;
  // Positions 0 … context() - 1 exist; a step past them is refused.
  virtual int64_t context() const = 0;
  // Computes all rows in one step: appended in every layer, committed, logits written. Rows of the cache that are not
  // named stay as they are. Each row at most once. Errors leave the cache and `out` unchanged: kInvalidArgument (a
  // token outside the vocabulary, with row and index; a row outside the cache), kCapacity (positions past the context,
  // or the cache's own).
  virtual void Step(KvCache& cache, std::span<const StepRow> rows, LogitsOut out) = 0;
};

}  // namespace ekvi::engine
