// A conversation over a session: messages, the text that the template makes of them, and how much of it is computed.
//
// Each turn renders all messages and compares the tokens with those of the cache. Usually all that is cached stays and
// only the new message is computed. A template may write earlier messages differently than before (without their
// reasoning, say); then the longest common beginning is kept and the rest computed again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/message_marks.h"
#include "ekvi/chat_template.h"
#include "ekvi/session.h"

namespace ekvi::cli {

struct Message {
  std::string role, content;
};

// How a turn's tokens go with what is cached.
struct TurnPlan {
  std::vector<int32_t> tokens;  // to compute
  int64_t kept = 0;             // cached tokens that stay
  int64_t dropped = 0;          // cached ones that the text no longer begins with
};

// `rendered` is the whole text as tokens, `cached` what the session holds. At least one token is left to compute.
// The model's tokenizer says what tokens spell: a reply that was sampled in other pieces than its text is cut into is
// kept as it is. Control tokens are the same as themselves only, never as text that spells their names.
TurnPlan PlanTurn(const Model& model, std::span<const int32_t> cached, std::vector<int32_t> rendered);

class Conversation {
 public:
  // The session is empty and outlives it. `system`: what the system message says; empty: none.
  Conversation(Session& session, const ModelTemplate& found, std::string system);

  // The tokens for the next reply to `text`, with the cache cut to what stays. The message is part of the conversation
  // afterwards. Names of control tokens in messages stay text. Errors, nothing changed: as ChatTemplate::Render;
  // ExitError (kUsage) with the numbers where the conversation does not fit the session's context.
  TurnPlan Ask(std::string text);
  void Answered(std::string reply) { messages_.push_back({"assistant", std::move(reply)}); }

  // Takes back the last question and its reply; false where there is none.
  bool Undo();
  void Reset();
  const std::vector<Message>& messages() const { return messages_; }
  bool plain() const { return plain_; }

  // The messages as JSON, which Load and `ekvi template --input` read.
  std::string Save() const;
  // Error(kCorrupt), nothing changed, for what Save does not write. The cache is kept as far as it agrees.
  void Load(std::string_view json, const std::string& name);
  // Another system message in place of the one that is there; empty: none.
  void SetSystem(std::string text);
  bool has_system() const { return fixed_ == 1; }

 private:
  std::vector<int32_t> Encode(const std::vector<Message>& messages) const;
  void CheckFits(const TurnPlan& plan) const;

  Session& session_;
  bool plain_;
  ChatTemplate chat_;
  std::string source_;  // of the template
  MessageMarks marks_;
  std::string begin_token_, end_token_;
  size_t fixed_;  // messages before the first question
  std::vector<Message> messages_;
  std::vector<int64_t> lengths_;  // of the cache before each question
};

}  // namespace ekvi::cli
