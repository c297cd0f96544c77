#include "bench/model_run.h"

#include <algorithm>

#include "api/session_parts.h"
#include "ekvi/error.h"

namespace ekvi::bench {
namespace {

constexpr int64_t kFillStep = 512;

}  // namespace

void RefuseOracle(const Model& model) {
  if (model.info().compute != "f64") return;
  throw Error(ErrorCode::kUnsupported, "float64 is the oracle's arithmetic and not measured",
              "models are measured in f32 and int8", "leave the arithmetic out");
}

ModelRun::ModelRun(const Model& model, const BenchOptions& options, const Size& size) : model_(model) {
  const SessionOptions wanted = api::Resolve(
      model, {.context = size.tokens, .sequences = size.sequences, .threads = size.threads, .target = options.target});
  cache_ = api::MakeCache(model, wanted);
  steps_ = api::MakeSteps(model, wanted);
  logits_.resize(static_cast<size_t>(size.sequences) * static_cast<size_t>(model.info().vocabulary));
}

void ModelRun::Step(int64_t count) {
  tokens_.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    tokens_[static_cast<size_t>(i)] = static_cast<int32_t>((7 * i + 11) % model_.info().vocabulary);
  }
  rows_.clear();
  for (int row = 0; row < cache_->rows(); ++row) rows_.push_back({row, tokens_, 1});
  steps_->Step(*cache_, rows_, {.f32 = logits_.data()});
}

void ModelRun::Decode(int64_t count) {
  for (int64_t i = 0; i < count; ++i) Step(1);
}

void ModelRun::Truncate(int64_t length) {
  for (int row = 0; row < cache_->rows(); ++row) cache_->Truncate(row, length);
}

void ModelRun::Fill(int64_t length) {
  for (int64_t done = cache_->length(0); done < length; done = cache_->length(0)) {
    Step(std::min(kFillStep, length - done));
  }
}

double ModelRun::bytes_per_token() const { return static_cast<double>(BytesPerToken(cache_->layout())); }

}  // namespace ekvi::bench
