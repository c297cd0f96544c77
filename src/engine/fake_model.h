// Models without weights, for tests and the simulator: cheap, exact, and unforgiving about what lies in the cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "ekvi/cache_layout.h"
#include "ekvi/error.h"
#include "engine/step_model.h"

namespace ekvi::engine {

struct FakeModelOptions {
  int vocabulary = 64;
  int64_t context = 128;
  double spread = 8;  // logits lie in -spread / 2 … spread / 2
};

// Stores each token and its position in the cache and computes logits from a hash of all tokens and positions that it
// reads back from there: a row, position or token that is mixed up changes every logit. A step costs tokens × length
// reads.
class FakeModel : public StepModel {
 public:
  explicit FakeModel(FakeModelOptions options = {}) : options_(options) {}

  static CacheLayout Layout() {
    return CacheLayout::Uniform(2, {.kv_heads = 1, .head_dim_k = 2, .head_dim_v = 1}, DType::kF64);
  }

  int vocabulary() const override { return options_.vocabulary; }
  int64_t context() const override { return options_.context; }

  void Step(KvCache& cache, std::span<const StepRow> rows, LogitsOut out) override {
    if (on_step) on_step();
    counts_.assign(static_cast<size_t>(cache.rows()), 0);
    for (const StepRow& row : rows) Check(cache, row);
    Append append = cache.BeginAppend(counts_);
    for (const StepRow& row : rows) Store(append, row);
    append.Commit();
    steps_ += 1;
    for (const StepRow& row : rows) {
      computed_tokens_ += static_cast<int64_t>(row.tokens.size());
      for (int64_t i = row.logits_count; i > 0; --i) out = Logits(cache, row.row, cache.length(row.row) - i, out);
    }
  }

  // Called when a step begins, before anything changes; may throw, and the step has not happened.
  std::function<void()> on_step;

  int64_t steps() const { return steps_; }
  int64_t computed_tokens() const { return computed_tokens_; }

 protected:
  // logits[vocabulary] after the token at `position`; values that float holds exactly.
  virtual void Score(int64_t position, uint64_t hash, std::span<double> logits) const {
    static_cast<void>(position);
    for (size_t i = 0; i < logits.size(); ++i) {
      logits[i] = static_cast<float>((base::RandomUnit(hash, i) - 0.5) * options_.spread);
    }
  }

 private:
  void Check(const KvCache& cache, const StepRow& row) {
    const auto invalid = [](std::string what) {
      throw Error(ErrorCode::kInvalidArgument, std::move(what), "", "what it has");
    };
    if (row.row < 0 || row.row >= cache.rows()) invalid("row " + std::to_string(row.row) + " is outside the cache");
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      if (row.tokens[i] < 0 || row.tokens[i] >= vocabulary()) {
        invalid("row " + std::to_string(row.row) + ", token " + std::to_string(i) + " is outside the vocabulary");
      }
    }
    counts_[static_cast<size_t>(row.row)] = static_cast<int64_t>(row.tokens.size());
    if (cache.length(row.row) + static_cast<int64_t>(row.tokens.size()) > context()) {
      throw Error(ErrorCode::kCapacity, "positions past the context", "", "fewer tokens");
    }
  }

  void Store(Append& append, const StepRow& row) {
    values_.clear();
    for (size_t i = 0; i < row.tokens.size(); ++i) {
      values_.push_back(row.tokens[i]);
      values_.push_back(static_cast<double>(append.past(row.row)) + static_cast<double>(i));
    }
    for (int layer = 0; layer < 2; ++layer) {
      append.Write<double>(layer, row.row,
                           {.k = values_.data(),
                            .v = values_.data(),
                            .k_token_stride = 2,
                            .k_head_stride = 2,
                            .v_token_stride = 2,
                            .v_head_stride = 2});
    }
  }

  LogitsOut Logits(const KvCache& cache, int row, int64_t position, LogitsOut out) {
    uint64_t hash = 0;
    for (int64_t i = 0; i <= position; ++i) {
      double k[2], v[1];
      cache.Read(1, row, i, 0, k, v);
      for (const double value : {k[0], k[1], v[0]}) hash = base::RandomBits(hash, static_cast<uint64_t>(value));
    }
    logits_.resize(static_cast<size_t>(vocabulary()));
    Score(position, hash, logits_);
    for (const double logit : logits_) {
      if (out.f64 != nullptr) *out.f64++ = logit;
      if (out.f32 != nullptr) *out.f32++ = static_cast<float>(logit);
    }
    return out;
  }

  FakeModelOptions options_;
  std::vector<int64_t> counts_;
  std::vector<double> values_, logits_;
  int64_t steps_ = 0;
  int64_t computed_tokens_ = 0;
};

// Gives the greatest logit after position p to script[p + 1], and after the script's end to its last token.
class ScriptedModel final : public FakeModel {
 public:
  // Precondition: the script is not empty.
  explicit ScriptedModel(std::vector<int32_t> script, FakeModelOptions options = {})
      : FakeModel(options), script_(std::move(script)) {}

 protected:
  void Score(int64_t position, uint64_t hash, std::span<double> logits) const override {
    FakeModel::Score(position, hash, logits);
    const auto next = static_cast<size_t>(position + 1);
    logits[static_cast<size_t>(script_[std::min(next, script_.size() - 1)])] = 100;
  }

 private:
  std::vector<int32_t> script_;
};

}  // namespace ekvi::engine
