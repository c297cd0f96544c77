#include "ekvi/session.h"

#include <atomic>

#include "api/model_impl.h"
#include "api/session_parts.h"
#include "engine/generation.h"
#include "engine/sequence.h"

namespace ekvi {
namespace {

engine::GeneratorOptions GeneratorOptionsOf(const Model& model, const SessionOptions& options) {
  engine::GeneratorOptions generator{.chunk = options.chunk, .reuse = options.reuse};
  if (model.has_tokenizer()) {
    const auto ends = model.tokenizer().end_tokens();
    generator.end_tokens.assign(ends.begin(), ends.end());
  }
  return generator;
}

}  // namespace

struct Session::Impl {
  Impl(std::shared_ptr<const Model> m, const SessionOptions& o)
      : model(std::move(m)),
        options(api::Resolve(*model, o)),
        steps(api::MakeSteps(*model, options)),
        cache(api::MakeCache(*model, options)),
        sequence(*cache, 0),
        generator(*steps, cancel, GeneratorOptionsOf(*model, options)) {}

  // A Cancel that came before or during the call has had its effect once the call is over.
  struct ClearCancel {
    std::atomic<bool>& flag;
    ~ClearCancel() { flag.store(false); }
  };

  std::shared_ptr<const Model> model;
  SessionOptions options;
  std::unique_ptr<engine::StepModel> steps;
  std::unique_ptr<KvCache> cache;
  engine::Sequence sequence;
  std::atomic<bool> cancel{false};
  engine::Generator generator;
};

Session::Session(std::shared_ptr<const Model> model, const SessionOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
Session::~Session() = default;

const Model& Session::model() const { return *impl_->model; }
const SessionOptions& Session::options() const { return impl_->options; }
KvCache& Session::cache() { return *impl_->cache; }

GenerateResult Session::Generate(std::span<const int32_t> prompt, const SamplingOptions& sampling,
                                 const StopOptions& stops, const OnText& on_text) {
  const Impl::ClearCancel clear{impl_->cancel};
  impl_->model->tokenizer();  // throws where there is none
  std::vector<int32_t> before(impl_->sequence.tokens().begin(), impl_->sequence.tokens().end());
  before.insert(before.end(), prompt.begin(), prompt.end());
  std::unique_ptr<TextStream> stream;  // made once the tokens before it have been checked
  const auto text = [&]() -> TextStream& {
    if (stream == nullptr) stream = impl_->model->tokenizer().NewTextStream(before);
    return *stream;
  };
  const engine::TextSource source{.push = [&](int32_t token) { return text().Push(token); },
                                  .finish = [&] { return text().Finish(); }};
  return impl_->generator.Generate(impl_->sequence, {prompt, sampling, stops, source, on_text});
}

GenerateResult Session::Generate(std::string_view prompt, const SamplingOptions& sampling, const StopOptions& stops,
                                 const OnText& on_text) {
  const std::vector<int32_t> tokens = impl_->model->tokenizer().Encode(prompt, {.begin = impl_->sequence.size() == 0});
  return Generate(std::span<const int32_t>(tokens), sampling, stops, on_text);
}

void Session::Logits(std::span<const int32_t> tokens, std::span<double> out) {
  const Impl::ClearCancel clear{impl_->cancel};
  impl_->generator.Logits(impl_->sequence, tokens, out);
}

void Session::Truncate(int64_t length) { impl_->sequence.Truncate(length); }
int64_t Session::length() const { return impl_->sequence.size(); }
std::span<const int32_t> Session::tokens() const { return impl_->sequence.tokens(); }
void Session::Cancel() noexcept { impl_->cancel.store(true); }

}  // namespace ekvi
