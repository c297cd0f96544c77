#include "api/decoder_steps.h"

#include <vector>

#include "model/decoder.h"

namespace ekvi::api {
namespace {

template <typename T>
class DecoderSteps final : public engine::StepModel {
 public:
  DecoderSteps(std::shared_ptr<const model::DecoderWeights<T>> weights, const StepSettings& settings)
      : decoder_(std::move(weights), {.threads = settings.threads,
                                      .target = settings.target,
                                      .dtype_k = settings.dtype_k,
                                      .dtype_v = settings.dtype_v}) {}

  int vocabulary() const override { return decoder_.config().vocabulary; }
  int64_t context() const override { return decoder_.config().context; }
  void Step(KvCache& cache, std::span<const engine::StepRow> rows, engine::LogitsOut out) override {
    rows_.clear();
    for (const engine::StepRow& row : rows) rows_.push_back({row.row, row.tokens, row.logits_count});
    decoder_.Step(cache, rows_, {out.f32, out.f64});
  }

 private:
  model::Decoder<T> decoder_;
  std::vector<model::StepRow> rows_;
};

}  // namespace

std::unique_ptr<engine::StepModel> MakeStepModel(const model::LoadedModel& loaded, const StepSettings& settings) {
  if (loaded.f64) return std::make_unique<DecoderSteps<double>>(loaded.f64, settings);
  return std::make_unique<DecoderSteps<float>>(loaded.f32, settings);
}

}  // namespace ekvi::api
