// A family of models: turns a file's metadata into a configuration and names for its tensors. The forward pass knows
// only those; a new family is one file like llama.cc and one line in family.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "files/gguf.h"
#include "model/config.h"
#include "model/weight_source.h"

namespace ekvi::model {

struct FamilyModel {
  DecoderConfig config;
  WeightNames names;
};

struct Family {
  std::string_view architecture;  // general.architecture of its GGUF files
  // `pieces` is the size of the vocabulary. Errors: kCorrupt, kUnsupported, naming the key.
  FamilyModel (*read)(const files::GgufFile& file, int64_t pieces);
};

// The family of the file. kCorrupt where general.architecture is missing, kUnsupported, naming those supported, where
// it is none of them.
const Family& FamilyOf(const files::GgufFile& file);

}  // namespace ekvi::model
