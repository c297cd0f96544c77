// A model and the cache it needs, for people.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ekvi/cache_layout.h"
#include "ekvi/model.h"

namespace ekvi::cli {

// The cache that a sequence of `context` tokens needs, in both storages.
struct CacheFigures {
  CacheLayout layout;
  int64_t context = 0;
  int block_tokens = 32;
  uint64_t bytes_per_token = 0;
  uint64_t contiguous_bytes = 0;
  uint64_t paged_bytes = 0;
};
CacheFigures CacheFiguresOf(const CacheLayout& layout, int64_t context, int block_tokens);

// The chat template that comes with the model.
struct TemplateFigures {
  std::string name;   // where it is: a file, "" where there is none
  size_t bytes = 0;   // its length
  std::string fault;  // why it cannot be used; "" where it can
};
TemplateFigures TemplateFiguresOf(const ModelInfo& info);

struct TypeTotal {
  int64_t tensors = 0;
  uint64_t bytes = 0;
};
// By the type of the tensors.
std::map<std::string, TypeTotal> TensorTypes(const ModelInfo& info);

// "0-4: 8 query heads over 4 KV heads of 8" for each run of equal layers, with the window where there is one.
std::vector<std::string> LayerLines(const ModelInfo& info);

// What `ekvi inspect` prints; kEverything adds a line for each tensor and each metadata key.
enum class Detail { kSummary, kEverything };
std::string InspectText(const ModelInfo& info, const TemplateFigures& chat, const CacheFigures& cache, Detail detail);

}  // namespace ekvi::cli
