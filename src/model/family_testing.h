// For tests: weights of a model on disk, without the tokenizer, whatever kind of vocabulary it has.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/weights.h"

namespace ekvi::model::testing {

// A GGUF file or a folder. T is float or double.
template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOf(const std::filesystem::path& path);
// The same for a GGUF file in memory.
template <typename T>
std::shared_ptr<const DecoderWeights<T>> WeightsOfBytes(const std::string& bytes);

// Names of the shared folders of small models, sorted; empty where there is no shared material.
std::vector<std::string> TinyModels();

}  // namespace ekvi::model::testing
