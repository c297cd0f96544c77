// What is under proof: a model, seen as a maker of step models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "ekvi/cache.h"
#include "engine/step_model.h"

namespace ekvi::law {

// Who computes.
struct Crew {
  int threads = 0;     // 0: as many as this process is granted
  std::string target;  // empty: the machine's best
};

// Where tokens are kept.
struct Storage {
  bool paged = true;
  int block_tokens = 32;
  bool shuffled = false;  // blocks are taken in a random order
};

std::unique_ptr<KvCache> MakeCache(const CacheLayout& layout, const Storage& storage, int rows, int64_t max_len);

struct Subject {
  std::function<std::unique_ptr<engine::StepModel>(const Crew&)> make;
  CacheLayout layout;       // of the caches its step models read
  bool f64 = false;         // the arithmetic is float64
  uint64_t parameters = 0;  // bounds how much the slow scalar oracle is asked to do
};

}  // namespace ekvi::law
