#include "ekvi/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ekvi/error.h"

namespace ekvi {

Conversation::Conversation(Session& session, const ModelTemplate& found, std::string system)
    : session_(session), encoder_(session.model().tokenizer(), found), fixed_(0) {
  SetSystem(std::move(system));
}

void Conversation::CheckFits(const TurnPlan& plan) const {
  const int64_t context = session_.options().context, total = plan.kept + static_cast<int64_t>(plan.tokens.size());
  if (total <= context) return;
  throw Error(ErrorCode::kCapacity, "the conversation does not fit the context",
              fmt::format("{} tokens with this message, {} too many: context {} (the model's maximum is {})", total,
                          total - context, context, session_.model().info().context),
              fmt::format("a message that is {} tokens shorter, or a conversation that is", total - context));
}

TurnPlan Conversation::Ask(std::string text) {
  std::vector<ChatMessage> messages = messages_;
  messages.push_back({"user", std::move(text)});
  TurnPlan plan = PlanTurn(session_.model().tokenizer(), session_.tokens(), encoder_.Encode(messages));
  CheckFits(plan);
  lengths_.push_back(plan.kept);
  session_.Truncate(plan.kept);
  messages_ = std::move(messages);
  return plan;
}

void Conversation::Answered(std::string reply) { messages_.push_back({"assistant", std::move(reply)}); }

bool Conversation::Undo() {
  size_t question = messages_.size();
  while (question > fixed_ && messages_[question - 1].role != "user") --question;
  if (question <= fixed_) return false;
  messages_.resize(question - 1);
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

void Conversation::SetMessages(std::vector<ChatMessage> messages) {
  const auto asks = [](const ChatMessage& each) { return each.role == "user"; };
  lengths_.assign(static_cast<size_t>(std::ranges::count_if(messages, asks)), 0);
  fixed_ = !messages.empty() && messages[0].role == "system" ? 1 : 0;
  messages_ = std::move(messages);
}

void Conversation::SetSystem(std::string text) {
  if (fixed_ == 1) messages_.erase(messages_.begin());
  fixed_ = text.empty() ? 0 : 1;
  if (!text.empty()) messages_.insert(messages_.begin(), {"system", std::move(text)});
}

}  // namespace ekvi
