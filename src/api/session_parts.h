// What a session is put together from, for everything that runs as a session would.
#pragma once

#include <memory>

#include "ekvi/cache.h"
#include "ekvi/session.h"
#include "engine/step_model.h"

namespace ekvi::api {

// The options with automatic values filled in. A value that the caller gave is kept or refused (kInvalidArgument,
// kUnsupported), never changed.
SessionOptions Resolve(const Model& model, SessionOptions options);

// Both take resolved options. The model must outlive what they make.
std::unique_ptr<KvCache> MakeCache(const Model& model, const SessionOptions& options);
std::unique_ptr<engine::StepModel> MakeSteps(const Model& model, const SessionOptions& options);

}  // namespace ekvi::api
