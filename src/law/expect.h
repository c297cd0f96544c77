// Comparison with logits that another implementation computed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ekvi/cache.h"
#include "ekvi/verify.h"
#include "engine/step_model.h"
#include "files/safetensors.h"

namespace ekvi::law {

// Who computes, where it is kept, and how many tokens a step has at most.
struct ExpectSetup {
  engine::StepModel* model;
  std::function<std::unique_ptr<KvCache>()> make_cache;  // one empty row or more
  bool f64 = false;                                      // the arithmetic
  int64_t chunk = 512;
};

// See VerifyExpect in ekvi/verify.h for the tensors. Errors: kCorrupt where a tensor is missing or shapes do not fit
// together; kInvalidArgument, kCapacity where the model refuses the tokens.
ExpectResult CompareExpected(const ExpectSetup& setup, const files::SafetensorsFile& file);

}  // namespace ekvi::law
