// From a Hugging Face folder's config.json and tensors to a configuration and names, for every model_type that is
// known. Keys that are missing mean what they mean to the reference, transformers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "files/json_object.h"
#include "model/family.h"
#include "model/hub_keys.h"
#include "model/weight_source.h"

namespace ekvi::model {

// `config` is that of config.json. Errors: kCorrupt for a key that is missing, of another type or out of range, numbers
// that do not fit together or to the tensors; kUnsupported, naming what is supported, for another model_type,
// activation or rope type, and for quantized weights.
FamilyModel ReadHubModel(const files::JsonObject& config, const TensorSource& source);

// Rotary positions of layers of one kind ("full_attention", "sliding_attention"), in both spellings: rope_theta and
// rope_scaling, or rope_parameters, flat or by kind (hub_rope.cc).
RopeConfig ReadHubRope(const HubKeys& keys, const HubRules& rules, const Settings& settings, std::string_view kind);

// Names of the tensors (hub_names.cc). An order of rows is built only for tensors that really have as many.
WeightNames HubNamesOf(const TensorSource& source, const Family& family, const Settings& settings);

}  // namespace ekvi::model
