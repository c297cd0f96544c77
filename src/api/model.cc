#include "ekvi/model.h"

#include <fmt/format.h>

#include "api/embedded.h"
#include "api/model_impl.h"
#include "ekvi/error.h"
#include "text/text_stream.h"

namespace ekvi {
namespace {

int32_t Checked(const text::Vocabulary& vocabulary, int32_t token) {
  if (vocabulary.Contains(token)) return token;
  throw Error(ErrorCode::kInvalidArgument, "a token is outside the vocabulary",
              fmt::format("id {}, vocabulary {}", token, vocabulary.size()), "ids count from 0");
}

}  // namespace

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

std::vector<int32_t> Model::Encode(std::string_view text, const EncodeOptions& options) const {
  return impl_->loaded.tokenizer->Encode(text, options);
}
std::string Model::Decode(std::span<const int32_t> tokens) const { return impl_->loaded.tokenizer->Decode(tokens); }
std::unique_ptr<TextStream> Model::NewTextStream() const { return text::NewTextStream(*impl_->loaded.tokenizer); }

std::string_view Model::Piece(int32_t token) const {
  const text::Vocabulary& vocabulary = impl_->loaded.tokenizer->vocabulary();
  return vocabulary.Piece(Checked(vocabulary, token));
}
bool Model::IsControl(int32_t token) const {
  const text::Vocabulary& vocabulary = impl_->loaded.tokenizer->vocabulary();
  return vocabulary.Kind(Checked(vocabulary, token)) == text::PieceKind::kControl;
}
std::optional<int32_t> Model::begin_token() const { return impl_->loaded.tokenizer->vocabulary().begin(); }
std::span<const int32_t> Model::end_tokens() const { return impl_->loaded.tokenizer->vocabulary().ends(); }

}  // namespace ekvi
