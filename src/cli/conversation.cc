#include "cli/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/report.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

// Where a model has no template: each message and a line feed, so that it goes on from what was said.
constexpr std::string_view kPlainTemplate = "{% for message in messages %}{{ message.content }}{{ '\\n' }}{% endfor %}";

// What a token writes; of a control token its id, in bytes that no text has.
std::string Spelling(const Tokenizer& tokenizer, int32_t token) {
  return tokenizer.IsControl(token) ? fmt::format("\xFF{}\xFF", token) : std::string(tokenizer.Piece(token));
}

// The index in `rendered` after the tokens that spell what cached[common:] spells; nothing where there is none.
std::optional<size_t> SameText(const Model& model, std::span<const int32_t> cached, std::span<const int32_t> rendered,
                               size_t common) {
  std::string text, other;
  for (const int32_t token : cached.subspan(common)) text += Spelling(model.tokenizer(), token);
  for (size_t i = common; i < rendered.size() && other.size() < text.size(); ++i) {
    other += Spelling(model.tokenizer(), rendered[i]);
    if (other == text) return i + 1;
  }
  return text.empty() ? std::optional(common) : std::nullopt;
}

}  // namespace

TurnPlan PlanTurn(const Model& model, std::span<const int32_t> cached, std::vector<int32_t> rendered) {
  const auto [end, other] = std::mismatch(cached.begin(), cached.end(), rendered.begin(), rendered.end());
  auto common = static_cast<size_t>(end - cached.begin());
  const auto after = SameText(model, cached, rendered, common);
  if (after && *after < rendered.size()) {
    rendered.erase(rendered.begin(), rendered.begin() + static_cast<std::ptrdiff_t>(*after));
    return {.tokens = std::move(rendered), .kept = static_cast<int64_t>(cached.size()), .dropped = 0};
  }
  if (common == rendered.size() && common > 0) --common;
  rendered.erase(rendered.begin(), rendered.begin() + static_cast<std::ptrdiff_t>(common));
  return {.tokens = std::move(rendered),
          .kept = static_cast<int64_t>(common),
          .dropped = static_cast<int64_t>(cached.size() - common)};
}

Conversation::Conversation(Session& session, const ModelTemplate& found, std::string system)
    : session_(session),
      plain_(found.source.empty()),
      chat_(plain_ ? ChatTemplate::Parse(kPlainTemplate, "the plain template")
                   : ChatTemplate::Parse(found.source, found.name)),
      source_(found.source),
      marks_(session.model().tokenizer()),
      begin_token_(found.begin_token),
      end_token_(found.end_token),
      fixed_(system.empty() ? 0 : 1) {
  if (!system.empty()) messages_.push_back({"system", std::move(system)});
}

std::vector<int32_t> Conversation::Encode(const std::vector<Message>& messages) const {
  std::vector<std::string_view> texts{source_};
  for (const Message& message : messages) texts.insert(texts.end(), {message.role, message.content});
  const std::string mark = MessageMarks::FreeMark(texts);
  Json input{{"messages", Json::array()}, {"add_generation_prompt", true}};
  for (const Message& message : messages) {
    input["messages"].push_back({{"role", message.role}, {"content", marks_.Marked(message.content, mark)}});
  }
  input["bos_token"] = begin_token_;
  input["eos_token"] = end_token_;
  const std::string text = chat_.Render(input.dump(-1, ' ', false, Json::error_handler_t::replace));
  // The begin token stands once in front, whether the template writes it or not, by the name that the model's files
  // give it or by the vocabulary's own.
  const Tokenizer& tokenizer = session_.model().tokenizer();
  const auto begins = [&](std::string_view name) { return !name.empty() && text.starts_with(name); };
  const bool written =
      begins(begin_token_) || (tokenizer.begin_token() && begins(tokenizer.Piece(*tokenizer.begin_token())));
  return marks_.Encode({.text = text, .mark = mark, .options = {.begin = !written, .special = !plain_}});
}

void Conversation::CheckFits(const TurnPlan& plan) const {
  const int64_t context = session_.options().context, total = plan.kept + static_cast<int64_t>(plan.tokens.size());
  if (total <= context) return;
  const int64_t maximum = session_.model().info().context;
  const std::string larger = total <= maximum ? fmt::format("begin again with --ctx {}", maximum)
                                              : fmt::format("the model's maximum is {}", Count(maximum));
  throw ExitError(
      kUsage, ErrorCode::kCapacity, "the conversation does not fit the context",
      fmt::format("{} with this message, {} too many: ctx {}", CountOf(total, "token"), Count(total - context),
                  Count(context)),
      fmt::format("/undo, /reset, or a message that is {} shorter; {}", CountOf(total - context, "token"), larger));
}

TurnPlan Conversation::Ask(std::string text) {
  std::vector<Message> messages = messages_;
  messages.push_back({"user", std::move(text)});
  TurnPlan plan = PlanTurn(session_.model(), session_.tokens(), Encode(messages));
  CheckFits(plan);
  session_.Truncate(plan.kept);
  lengths_.push_back(plan.kept);
  messages_ = std::move(messages);
  return plan;
}

bool Conversation::Undo() {
  if (messages_.size() <= fixed_) return false;
  while (messages_.size() > fixed_) {
    const bool question = messages_.back().role == "user";
    messages_.pop_back();
    if (question) break;
  }
  const int64_t length = lengths_.empty() ? 0 : lengths_.back();
  if (!lengths_.empty()) lengths_.pop_back();
  session_.Truncate(std::min(length, session_.length()));
  return true;
}

void Conversation::Reset() {
  messages_.resize(fixed_);
  lengths_.clear();
  session_.Truncate(0);
}

std::string Conversation::Save() const {
  Json object{{"messages", Json::array()}};
  for (const Message& message : messages_) {
    object["messages"].push_back({{"role", message.role}, {"content", message.content}});
  }
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void Conversation::Load(std::string_view json, const std::string& name) {
  const Json object = GivenJson(json);
  const bool fine = object.is_object() && object.contains("messages") && object["messages"].is_array();
  std::vector<Message> messages;
  if (fine) {
    for (const Json& each : object["messages"]) {
      const auto is_text = [&](const char* key) { return each.contains(key) && each[key].is_string(); };
      if (!each.is_object() || !is_text("role") || !is_text("content")) break;
      messages.push_back({each["role"], each["content"]});
    }
  }
  if (!fine || messages.size() != object["messages"].size()) {
    throw Error(ErrorCode::kCorrupt, name + " holds no conversation", "",
                R"(a file that /save has written: {"messages": [{"role": "user", "content": "…"}]})");
  }
  fixed_ = !messages.empty() && messages[0].role == "system" ? 1 : 0;
  messages_ = std::move(messages);
  lengths_.assign(static_cast<size_t>(std::count_if(messages_.begin(), messages_.end(),
                                                    [](const Message& each) { return each.role == "user"; })),
                  0);
}

void Conversation::SetSystem(std::string text) {
  if (fixed_ == 1) messages_.erase(messages_.begin());
  fixed_ = text.empty() ? 0 : 1;
  if (!text.empty()) messages_.insert(messages_.begin(), {"system", std::move(text)});
}

}  // namespace ekvi::cli
