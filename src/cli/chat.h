// The turns of `ekvi chat`: a line is a message, a line that begins with / is a command. A message goes on in the next
// line where it ends in a backslash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/line_editor.h"
#include "ekvi/conversation.h"
#include "ekvi/session.h"

namespace ekvi::cli {

class Chat {
 public:
  // All outlive it. The session is empty. Errors as SamplingOf.
  Chat(const Arguments& arguments, Console& console, Session& session, const ModelTemplate& found);
  ~Chat();
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;

  bool plain() const { return conversation_.plain(); }
  // Begins with the conversation of a file; --system replaces its system message. Errors as ReadText, ParseMessages.
  void Begin(const std::string& path);
  // Turns until the input ends, /quit, SIGTERM or two Ctrl-C at the prompt; the exit code. `first` is a message as it
  // stands, before any line is read. What goes wrong is reported and the conversation goes on where a person types;
  // else it is thrown.
  int Run(const std::optional<std::string>& first);

  // "/save", "FILE", and what it does, for each command.
  struct CommandInfo {
    std::string_view name, argument, help;
    void (Chat::*run)(const std::string& argument);
  };
  static std::span<const CommandInfo> Commands();

 private:
  struct Record;

  std::optional<StayOnInterrupt> Welcome();
  Typed NextMessage();
  void Attempt(const std::function<void()>& turn);
  void TakeLine(const std::string& line);
  void TakeCommand(const std::string& line);
  bool TakeInterrupt(bool line_empty);
  void Turn(std::string text);
  TurnPlan Ask(std::string text);
  GenerateResult Reply(const TurnPlan& plan);
  void Summarise(const TurnPlan& plan, const GenerateResult& result);
  void Conclude();

  void Help(const std::string&);
  void Undo(const std::string&);
  void Reset(const std::string&);
  void Save(const std::string& path);
  void Load(const std::string& path);
  void Stats(const std::string&);
  void Quit(const std::string&);
  std::string MessageCount() const;

  const Arguments& arguments_;
  Console& console_;
  Session& session_;
  Conversation conversation_;
  SamplingOptions sampling_;
  StopOptions stops_;
  LineEditor editor_;
  std::unique_ptr<Record> record_;
  bool warned_ = false;  // the last that was typed was Ctrl-C
  bool over_ = false;
  int exit_ = 0;
};

}  // namespace ekvi::cli
