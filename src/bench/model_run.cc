#include "bench/model_run.h"

#include <algorithm>

#include "api/session_parts.h"
#include "ekvi/error.h"

namespace ekvi::bench {
void RefuseOracle(const Model& model) {
  if (model.info().compute != "f64") return;
  throw Error(ErrorCode::kUnsupported, "float64 is the oracle's arithmetic and not measured",
              "models are measured in f32 and int8", "leave the arithmetic out");
}

ModelRun::ModelRun(const Model& model, const Size& size)
    : model_(model),
      options_(api::Resolve(model, {.context = size.tokens,
                                    .sequences = size.sequences,
                                    .chunk = kFillStep,
                                    .threads = size.threads,
                                    .target = size.target})),
      cache_(api::MakeCache(model, options_)),
      steps_(api::MakeSteps(model, options_)),
      logits_(static_cast<size_t>(size.sequences) * static_cast<size_t>(model.info().vocabulary)) {}

void ModelRun::SetThreads(int threads) {
  if (options_.threads == threads) return;
  options_.threads = threads;
  steps_.reset();  // its workers first: no two pools at once
  steps_ = api::MakeSteps(model_, options_);
}

void ModelRun::Step(std::span<const int32_t> tokens) {
  rows_.clear();
  for (int row = 0; row < cache_->rows(); ++row) rows_.push_back({row, tokens, 1});
  steps_->Step(*cache_, rows_, {.f32 = logits_.data()});
}

void ModelRun::GoOn(int64_t count) {
  tokens_.clear();
  for (int64_t position = length(); position < length() + count; ++position) {
    tokens_.push_back(static_cast<int32_t>((7 * position + 11) % model_.info().vocabulary));
  }
  Step(tokens_);
}

void ModelRun::Decode(int64_t count) {
  for (int64_t i = 0; i < count; ++i) GoOn(1);
}

void ModelRun::Truncate(int64_t length) {
  for (int row = 0; row < cache_->rows(); ++row) cache_->Truncate(row, std::min(length, cache_->length(row)));
}

void ModelRun::Fill(int64_t length) {
  while (this->length() < length) GoOn(std::min(kFillStep, length - this->length()));
}

double ModelRun::bytes_per_token() const { return static_cast<double>(BytesPerToken(cache_->layout())); }

}  // namespace ekvi::bench
