// From a path to a model ready to run: recognised by its content, tokenizer, configuration and packed weights.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "ekvi/model.h"
#include "model/weights.h"
#include "text/tokenizer.h"

namespace ekvi::model {

// Exactly one of the weights is set, by the arithmetic. Keeps the files mapped as long as they live.
struct LoadedModel {
  ModelInfo info;
  std::unique_ptr<const text::Tokenizer> tokenizer;  // null for a folder without one
  std::shared_ptr<const DecoderWeights<float>> f32;
  std::shared_ptr<const DecoderWeights<double>> f64;

  const DecoderConfig& config() const { return f32 ? f32->config : f64->config; }
  TokenCost per_token() const { return f32 ? f32->per_token() : f64->per_token(); }
};

// A GGUF file (any of several that belong together), or a folder with config.json and safetensors files, recognised by
// what they hold. Errors: kNotFound, kIo; kCorrupt, kUnsupported naming file, key or tensor and the numbers; kCapacity
// where the packed weights do not fit memory; kInvalidArgument for kInt8 without weights in blocks.
LoadedModel LoadModel(const std::filesystem::path& path, Compute compute);

// The same from memory that outlives the model; `name` stands where else the path does, and info.path is empty.
LoadedModel LoadModelFrom(std::span<const std::byte> bytes, std::string name, Compute compute);

}  // namespace ekvi::model
