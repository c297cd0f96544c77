#include "ekvi/chat_template.h"

#include <fmt/format.h>

#include "base/utf8.h"
#include "ekvi/error.h"
#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/json_read.h"
#include "jinja/parser.h"
#include "jinja/renderer.h"

namespace ekvi {

struct ChatTemplate::Impl {
  std::string name;
  jinja::Program program;
};

namespace {

std::string HintOf(const jinja::Failure& failure) {
  if (!failure.hint.empty()) return failure.hint;
  if (failure.raised) return "messages that the template takes: it says which it refuses";
  return failure.code == ErrorCode::kCorrupt ? "another input, or the template with that line mended"
                                             : "a template that does without it";
}

[[noreturn]] void Throw(const jinja::Failure& failure, const std::string& name) {
  const std::string place = failure.line > 0 ? fmt::format("{}, line {}", name, failure.line) : name;
  if (!failure.raised) throw Error(failure.code, fmt::format("{}: {}", place, failure.message), "", HintOf(failure));
  const std::string message = failure.message.empty() ? "the chat template refuses the conversation" : failure.message;
  throw Error(ErrorCode::kInvalidArgument, message, fmt::format("raised by the chat template {}", place),
              HintOf(failure));
}

jinja::Value ReadVariables(std::string_view variables) {
  constexpr const char* kExample = R"(an object such as {"messages": [{"role": "user", "content": "Hi"}]})";
  try {
    jinja::Value value = jinja::ReadJson(variables, "the template's input");
    if (value.IsDict()) return value;
  } catch (const jinja::Failure& failure) {
    throw Error(failure.code, failure.message, failure.hint, kExample);
  }
  throw Error(ErrorCode::kInvalidArgument, "the template's input is no JSON object", "", kExample);
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;

const std::string& ChatTemplate::name() const { return impl_->name; }

ChatTemplate ChatTemplate::Parse(std::string_view source, std::string name) {
  if (!base::IsUtf8(source))
    throw Error(ErrorCode::kCorrupt, name + ": the chat template is not UTF-8", "", "the template in UTF-8");
  try {
    jinja::Program program = jinja::ParseTemplate(source);
    return ChatTemplate(std::make_unique<Impl>(Impl{std::move(name), std::move(program)}));
  } catch (const jinja::Failure& failure) {
    Throw(failure, name);
  }
}

std::string ChatTemplate::Render(std::string_view variables, const TemplateOptions& options) const {
  const jinja::Value input = ReadVariables(variables);
  jinja::Dict all = input.dict();
  for (const auto& [key, text] : options.defaults) {
    if (all.Find(key) == nullptr) all.Set(jinja::Value::Of(key), jinja::Value::Of(text));
  }
  jinja::RenderSettings settings{.strftime_now = options.strftime_now, .limits = {}};
  if (!settings.strftime_now) {
    settings.strftime_now = [](std::string_view format) {
      return FormatLocalTime(format, std::chrono::system_clock::now());
    };
  }
  try {
    return jinja::Renderer(impl_->program, std::move(settings)).Run(all);
  } catch (const jinja::Failure& failure) {
    Throw(failure, impl_->name);
  }
}

}  // namespace ekvi
