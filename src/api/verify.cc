#include "ekvi/verify.h"

#include "api/decoder_steps.h"
#include "api/model_impl.h"
#include "api/session_parts.h"
#include "law/expect.h"
#include "law/paths.h"

namespace ekvi {
namespace {

// `dtype` is the element type of the caches. The model must outlive the subject.
law::Subject SubjectOf(const Model& model, DType dtype) {
  const model::LoadedModel& loaded = model.impl().loaded;
  return {.make =
              [&loaded, dtype](const law::Crew& crew) {
                return api::MakeStepModel(
                    loaded, {.threads = crew.threads, .target = crew.target, .dtype_k = dtype, .dtype_v = dtype});
              },
          .layout = model.cache_layout(dtype, dtype),
          .f64 = loaded.f64 != nullptr,
          .parameters = loaded.info.parameters};
}

}  // namespace

VerifyReport Verify(std::shared_ptr<const Model> model, const VerifyOptions& options,
                    const std::function<void(const PathResult&)>& on_path) {
  return law::Prove(SubjectOf(*model, model->info().auto_cache_type), options, on_path);
}

ExpectResult VerifyExpect(std::shared_ptr<const Model> model, const std::filesystem::path& file,
                          const SessionOptions& session) {
  const bool f64 = model->impl().loaded.f64 != nullptr;
  SessionOptions options = session;
  // Others keep their cache in the arithmetic's type: so does the comparison.
  options.dtype_k = options.dtype_k.value_or(f64 ? DType::kF64 : DType::kF32);
  options.dtype_v = options.dtype_v.value_or(f64 ? DType::kF64 : DType::kF32);
  options = api::Resolve(*model, options);
  const std::unique_ptr<engine::StepModel> steps = api::MakeSteps(*model, options);
  return law::CompareExpected({.model = steps.get(),
                               .make_cache = [&] { return api::MakeCache(*model, options); },
                               .f64 = f64,
                               .chunk = options.chunk},
                              model::SafetensorsFile::Open(file));
}

}  // namespace ekvi
