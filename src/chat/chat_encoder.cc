// A content gets its marks, the template makes the text, the marks come out again: message_marks.h has the reasons.
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "chat/message_marks.h"
#include "ekvi/conversation.h"

namespace ekvi {
namespace {

using Json = nlohmann::ordered_json;

// Where a model has no template: each message and a line feed, so that it goes on from what was said.
constexpr std::string_view kPlainTemplate = "{% for message in messages %}{{ message.content }}{{ '\\n' }}{% endfor %}";

}  // namespace

struct ChatEncoder::Impl {
  Impl(const Tokenizer& t, const ModelTemplate& f)
      : tokenizer(t),
        found(f),
        chat(f.source.empty() ? ChatTemplate::Parse(kPlainTemplate, "the plain template")
                              : ChatTemplate::Parse(f.source, f.name)),
        marks(t) {}

  std::string Input(std::span<const ChatMessage> messages, std::string_view mark) const {
    Json input{{"messages", Json::array()}, {"add_generation_prompt", true}};
    for (const ChatMessage& message : messages) {
      input["messages"].push_back({{"role", message.role}, {"content", marks.Marked(message.content, mark)}});
    }
    input["bos_token"] = found.begin_token;
    input["eos_token"] = found.end_token;
    return input.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  // By the name that the model's files give it or by the vocabulary's own.
  bool BeginsByItself(std::string_view text) const {
    const auto begins = [&](std::string_view name) { return !name.empty() && text.starts_with(name); };
    const auto begin = tokenizer.begin_token();
    return begins(found.begin_token) || (begin && begins(tokenizer.Piece(*begin)));
  }

  const Tokenizer& tokenizer;
  ModelTemplate found;
  ChatTemplate chat;
  chat::MessageMarks marks;
};

ChatEncoder::ChatEncoder(const Tokenizer& tokenizer, const ModelTemplate& found)
    : impl_(std::make_unique<Impl>(tokenizer, found)) {}
ChatEncoder::~ChatEncoder() = default;
ChatEncoder::ChatEncoder(ChatEncoder&&) noexcept = default;
ChatEncoder& ChatEncoder::operator=(ChatEncoder&&) noexcept = default;

bool ChatEncoder::plain() const { return impl_->found.source.empty(); }

std::vector<int32_t> ChatEncoder::Encode(std::span<const ChatMessage> messages) const {
  std::vector<std::string_view> texts{impl_->found.source};
  for (const ChatMessage& message : messages) texts.insert(texts.end(), {message.role, message.content});
  const std::string mark = chat::MessageMarks::FreeMark(texts);
  const std::string text = impl_->chat.Render(impl_->Input(messages, mark));
  return impl_->marks.Encode(
      {.text = text, .mark = mark, .options = {.begin = !impl_->BeginsByItself(text), .special = !plain()}});
}

}  // namespace ekvi
