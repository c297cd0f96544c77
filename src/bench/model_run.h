// A model and a cache, to be stepped with made-up tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ekvi/bench.h"
#include "ekvi/cache.h"
#include "engine/step_model.h"

namespace ekvi::bench {

// Error(kUnsupported) for a model in float64.
void RefuseOracle(const Model& model);

class ModelRun {
 public:
  struct Size {
    int threads = 1, sequences = 1;
    int64_t tokens = 0;  // that each sequence's cache holds
  };
  // The model is in float32 or 8-bit arithmetic and outlives it.
  ModelRun(const Model& model, const BenchOptions& options, const Size& size);

  // `count` tokens of every sequence in one step; logits of each one's last token.
  void Step(int64_t count);
  // `count` steps of one token.
  void Decode(int64_t count);
  void Truncate(int64_t length);
  // Fills every sequence up to `length`.
  void Fill(int64_t length);

  // [sequences, vocabulary], of the latest step.
  const std::vector<float>& logits() const { return logits_; }
  double bytes_per_token() const;

 private:
  const Model& model_;
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<engine::StepModel> steps_;
  std::vector<float> logits_;
  std::vector<int32_t> tokens_;
  std::vector<StepRow> rows_;
};

}  // namespace ekvi::bench
