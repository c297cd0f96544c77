// Conversations: the tokens that a model's chat template makes of messages, and which of them are left to compute.
//
//   const auto model = ekvi::Model::Load("model.gguf");
//   ekvi::Session session(model);
//   ekvi::Conversation conversation(session, ekvi::FindChatTemplate("model.gguf"), "Be brief.");
//   const ekvi::TurnPlan plan = conversation.Ask("What is a cache?");
//   conversation.Answered(session.Generate(plan.tokens, {}, {}, print).text);
//
// Two promises. What messages say stays text: a name of a control token that stands in a content, whole or cut off at
// its end, never becomes that token, wherever the template moves it. Names that the template itself writes do, and so
// do those that it makes of other text (by replace or lower, say).
// And a turn computes what is new: each turn renders all messages and compares their tokens with those of the cache.
// Usually all that is cached stays and the new message alone is computed; where the template writes earlier messages
// differently than before (without their reasoning, say), the longest common beginning stays.
//
// Conversation is for one dialogue over one session. What has whole histories to answer (a server) takes its two parts,
// ChatEncoder and PlanTurn.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ekvi/chat_template.h"
#include "ekvi/session.h"
#include "ekvi/tokenizer.h"

namespace ekvi {

// Any bytes; what is no UTF-8 reaches the template as U+FFFD. `content` may come from anyone. `role` is the program's
// own word ("system", "user", "assistant"): templates make names of control tokens of it.
struct ChatMessage {
  std::string role, content;
  bool operator==(const ChatMessage&) const = default;
};

// Messages as the tokens that ask a model for the next reply. Read-only once made: from any number of threads at once.
class ChatEncoder {
 public:
  // `tokenizer` outlives it. Without a template (found.source is empty) each message is a line of plain text. Errors:
  // as ChatTemplate::Parse.
  ChatEncoder(const Tokenizer& tokenizer, const ModelTemplate& found);
  ~ChatEncoder();
  ChatEncoder(ChatEncoder&&) noexcept;
  ChatEncoder& operator=(ChatEncoder&&) noexcept;

  // The template's text for `messages` with add_generation_prompt, bos_token and eos_token, as tokens. A begin token
  // that the vocabulary asks for stands once in front, whether the template writes it or not. Linear time in the
  // messages beside what the template does. Errors: as ChatTemplate::Render (kInvalidArgument where the template
  // refuses the messages) and Tokenizer::Encode; kUnsupported where contents and template hold all 66 noncharacters of
  // Unicode, one of which must be free.
  std::vector<int32_t> Encode(std::span<const ChatMessage> messages) const;

  bool plain() const;  // the model has no template

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// How the tokens of a turn go with those of a cache.
struct TurnPlan {
  std::vector<int32_t> tokens;  // to compute, behind what is kept: one at least, unless the text has none
  int64_t kept = 0;             // cached tokens that stay, from the first on
  int64_t dropped = 0;          // cached tokens behind them, which are to be truncated
};

// `rendered` is the whole text, `cached` what a session holds. A reply that was sampled in other pieces than its text
// is cut into is kept as it is; control tokens are the same as themselves only, never as text that spells their names.
// Linear time. Error(kInvalidArgument) for ids outside the vocabulary among those that differ.
TurnPlan PlanTurn(const Tokenizer& tokenizer, std::span<const int32_t> cached, std::vector<int32_t> rendered);

// A dialogue over sequence 0 of a session. One thread at a time. It keeps a length per question beside the messages.
class Conversation {
 public:
  // The session outlives it; what it holds already is kept as far as the first question agrees. `system`: what the
  // system message says; empty: none. Errors: as ChatEncoder; kUnsupported where the model has no tokenizer.
  Conversation(Session& session, const ModelTemplate& found, std::string system = "");

  // The tokens to generate from for a reply to `text`; the session is cut to plan.kept and the message is part of the
  // conversation afterwards. Errors, nothing changed: as ChatEncoder::Encode; kCapacity, with the numbers, where the
  // conversation does not fit the session's context.
  TurnPlan Ask(std::string text);
  // The reply, as generated or as much as came of it. Where none came, Undo takes the question back.
  void Answered(std::string reply);

  // Takes back the last question and what followed, in the session too; false where there is none.
  bool Undo();
  // All but the system message is forgotten, and the session is empty.
  void Reset();

  // Another conversation, whose first message may be a system one. The session stays as it is: the next question keeps
  // what agrees.
  void SetMessages(std::vector<ChatMessage> messages);
  // Another system message in place of the one that is there; empty: none.
  void SetSystem(std::string text);

  const std::vector<ChatMessage>& messages() const { return messages_; }
  bool has_system() const { return fixed_ == 1; }
  bool plain() const { return encoder_.plain(); }

 private:
  void CheckFits(const TurnPlan& plan) const;

  Session& session_;
  ChatEncoder encoder_;
  size_t fixed_;  // messages before the first question
  std::vector<ChatMessage> messages_;
  std::vector<int64_t> lengths_;  // of the sequence before each question
};

}  // namespace ekvi
