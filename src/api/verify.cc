#include "ekvi/verify.h"

#include "api/decoder_steps.h"
#include "api/model_impl.h"
#include "api/session_parts.h"
#include "law/expect.h"
#include "law/paths.h"

namespace ekvi {
namespace {

// The model must outlive the subject.
law::Subject SubjectOf(const Model& model, const SessionOptions& session) {
  const model::LoadedModel& loaded = model.impl().loaded;
  const CacheLayout layout = model.cache_layout(session.dtype_k, session.dtype_v);
  const auto make = [&loaded, k = layout.dtype_k, v = layout.dtype_v,
                     context = session.context](const law::Crew& crew) {
    return api::MakeStepModel(
        loaded, {.threads = crew.threads, .target = crew.target, .dtype_k = k, .dtype_v = v, .context = context});
  };
  return {.make = make, .layout = layout, .f64 = loaded.f64 != nullptr, .parameters = loaded.info.parameters};
}

}  // namespace

VerifyReport Verify(std::shared_ptr<const Model> model, const VerifyOptions& options,
                    const std::function<void(const PathResult&)>& on_path) {
  return law::Prove(SubjectOf(*model, api::Resolve(*model, options.session)), options, on_path);
}

std::string ReferenceSha256(std::shared_ptr<const Model> model, const VerifyOptions& options) {
  return law::ReferenceSha256(SubjectOf(*model, api::Resolve(*model, options.session)), options);
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
                              files::SafetensorsFile::Open(file));
}

}  // namespace ekvi
