#include "api/decoder_steps.h"

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
                                      .dtype_v = settings.dtype_v,
                                      .context = settings.context}) {}

  int vocabulary() const override { return decoder_.config().vocabulary; }
  int64_t context() const override { return decoder_.config().context; }
  void Step(KvCache& cache, std::span<const StepRow> rows, LogitsOut out) override { decoder_.Step(cache, rows, out); }

 private:
  model::Decoder<T> decoder_;
};

}  // namespace

std::unique_ptr<engine::StepModel> MakeStepModel(const model::LoadedModel& loaded, const StepSettings& settings) {
  if (loaded.f64) return std::make_unique<DecoderSteps<double>>(loaded.f64, settings);
  return std::make_unique<DecoderSteps<float>>(loaded.f32, settings);
}

}  // namespace ekvi::api
