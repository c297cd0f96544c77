// A decoder, seen by the engine: the one place where src/model and src/engine meet.
#pragma once

#include <memory>
#include <string>

#include "ekvi/dtype.h"
#include "engine/step_model.h"
#include "model/model_loader.h"

namespace ekvi::api {

struct StepSettings {
  int threads = 0;     // 0: as many as this process is granted
  std::string target;  // empty: the machine's best
  DType dtype_k = DType::kF32, dtype_v = DType::kF32;
  int64_t context = 0;  // tokens a row will hold at most; 0: the model's
};

// Shares the weights; owns threads and scratch. `loaded` must outlive it. Errors as model::Decoder's constructor.
std::unique_ptr<engine::StepModel> MakeStepModel(const model::LoadedModel& loaded, const StepSettings& settings);

}  // namespace ekvi::api
