// A model and a cache, to be stepped with made-up tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ekvi/cache.h"
#include "ekvi/session.h"
#include "engine/step_model.h"

namespace ekvi::bench {

// Error(kUnsupported) for a model in float64.
void RefuseOracle(const Model& model);

class ModelRun {
 public:
  struct Size {
    int threads = 1, sequences = 1;
    int64_t tokens = 0;       // that each sequence's cache holds
    std::string target = {};  // as SessionOptions
  };
  // The model is in float32 or 8-bit arithmetic and outlives it. Errors as Session.
  ModelRun(const Model& model, const Size& size);

  // The cache stays: what was filled with many threads serves few.
  void SetThreads(int threads);

  // These tokens of every sequence in one step; logits of each one's last token.
  void Step(std::span<const int32_t> tokens);
  // The same for `count` made-up tokens: (7 p + 11) mod vocabulary at position p, as bench/peers/worker.py has them.
  void GoOn(int64_t count);
  // `count` steps of one token.
  void Decode(int64_t count);
  // No sequence becomes longer.
  void Truncate(int64_t length);
  // Fills every sequence up to `length`, in steps of kFillStep at most.
  void Fill(int64_t length);
  static constexpr int64_t kFillStep = 512;

  int64_t length() const { return cache_->length(0); }
  // [sequences, vocabulary], of the latest step.
  const std::vector<float>& logits() const { return logits_; }
  double bytes_per_token() const;

 private:
  const Model& model_;
  SessionOptions options_;
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<engine::StepModel> steps_;
  std::vector<float> logits_;
  std::vector<int32_t> tokens_;
  std::vector<StepRow> rows_;
};

}  // namespace ekvi::bench
