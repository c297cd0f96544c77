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

const text::Tokenizer& TokenizerOf(const Model::Impl& impl) {
  if (impl.loaded.tokenizer) return *impl.loaded.tokenizer;
  throw Error(ErrorCode::kUnsupported, fmt::format("{}: the model has no tokenizer", impl.loaded.info.path),
              "it takes and gives token ids only", "put its tokenizer.json into the folder, or use --tokens 1,2,3");
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
  return TokenizerOf(*impl_).Encode(text, options);
}
bool Model::has_tokenizer() const { return impl_->loaded.tokenizer != nullptr; }
std::string Model::Decode(std::span<const int32_t> tokens) const { return TokenizerOf(*impl_).Decode(tokens); }
std::unique_ptr<TextStream> Model::NewTextStream() const { return text::NewTextStream(TokenizerOf(*impl_)); }

std::string_view Model::Piece(int32_t token) const {
  const text::Vocabulary& vocabulary = TokenizerOf(*impl_).vocabulary();
  return vocabulary.Piece(Checked(vocabulary, token));
}
bool Model::IsControl(int32_t token) const {
  const text::Vocabulary& vocabulary = TokenizerOf(*impl_).vocabulary();
  return vocabulary.Kind(Checked(vocabulary, token)) == text::PieceKind::kControl;
}
std::optional<int32_t> Model::begin_token() const {
  return has_tokenizer() ? TokenizerOf(*impl_).vocabulary().begin() : std::nullopt;
}
std::span<const int32_t> Model::end_tokens() const {
  return has_tokenizer() ? std::span<const int32_t>(TokenizerOf(*impl_).vocabulary().ends())
                         : std::span<const int32_t>();
}

}  // namespace ekvi
