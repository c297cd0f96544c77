#include "ekvi/model.h"

#include "api/embedded.h"
#include "api/model_impl.h"
#include "ekvi/error.h"

namespace ekvi {
Model::Model(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Model::~Model() = default;

std::shared_ptr<const Model> Model::Load(const std::filesystem::path& path, const ModelOptions& options) {
  return std::shared_ptr<const Model>(new Model(std::make_unique<Impl>(Impl{model::LoadModel(path, options.compute)})));
}

std::shared_ptr<const Model> Model::Embedded(const ModelOptions& options) {
  auto loaded = model::LoadModelFrom(api::EmbeddedModelBytes(), "the embedded model", options.compute);
  return std::shared_ptr<const Model>(new Model(std::make_unique<Impl>(Impl{std::move(loaded)})));
}

const ModelInfo& Model::info() const { return impl_->loaded.info; }

CacheLayout Model::cache_layout(std::optional<DType> k, std::optional<DType> v) const {
  const DType automatic = info().auto_cache_type;
  return model::LayoutOf(impl_->loaded.config(), k.value_or(automatic), v.value_or(automatic));
}

const Tokenizer& Model::tokenizer() const {
  if (has_tokenizer()) return *impl_->loaded.tokenizer;
  throw Error(ErrorCode::kUnsupported, info().path + ": the model has no tokenizer", "there is no tokenizer.json",
              "token ids in place of text");
}
bool Model::has_tokenizer() const { return impl_->loaded.tokenizer != nullptr; }

}  // namespace ekvi
