// What is behind ekvi::Model.
#pragma once

#include "ekvi/model.h"
#include "model/model_loader.h"

namespace ekvi {

struct Model::Impl {
  model::LoadedModel loaded;
};

}  // namespace ekvi
