#include "cli/chat.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/generate_summary.h"
#include "cli/input.h"
#include "cli/report.h"
#include "cli/sampling_options.h"
#include "cli/saved_messages.h"
#include "cli/suggest.h"
#include "cli/table.h"

namespace ekvi::cli {
namespace {

constexpr size_t kLongestMessage = size_t{64} << 20;  // as a line's: no context is that long

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool IsCommand(std::string_view line) { return line.starts_with('/') && !line.starts_with("//"); }

// "~/x" as a shell would have it.
std::string FromHome(std::string_view path) {
  const char* home = std::getenv("HOME");
  const bool of_home = home != nullptr && (path == "~" || path.starts_with("~/"));
  return of_home ? home + std::string(path.substr(1)) : std::string(path);
}

[[noreturn]] void RefuseCommand(std::string_view name) {
  std::vector<std::string> names;
  for (const Chat::CommandInfo& command : Chat::Commands()) names.emplace_back(command.name);
  const auto meant = Closest(name, names);
  const std::string hint = meant ? fmt::format("did you mean {}? ", *meant) : "";
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not a command", Quoted(name)), "",
              hint + "/help lists them; // begins a message with a /");
}

}  // namespace

// What all turns did.
struct Chat::Record {
  int64_t turns = 0, cached = 0, computed = 0, replied = 0;
  Json reports = Json::array();  // of each turn, where --json asks
};

Chat::Chat(const Arguments& arguments, Console& console, Session& session, const ModelTemplate& found)
    : arguments_(arguments),
      console_(console),
      session_(session),
      conversation_(session, found, arguments.Text("system")),
      sampling_(SamplingOf(arguments)),
      stops_(StopsOf(arguments)),
      record_(std::make_unique<Record>()) {}

Chat::~Chat() = default;

std::span<const Chat::CommandInfo> Chat::Commands() {
  static constexpr std::array kCommands = {
      CommandInfo{"/undo", "", "take back the last message and its reply", &Chat::Undo},
      CommandInfo{"/reset", "", "begin anew", &Chat::Reset},
      CommandInfo{"/save", "FILE", "write the conversation as JSON", &Chat::Save},
      CommandInfo{"/load", "FILE", "go on with a conversation of /save", &Chat::Load},
      CommandInfo{"/stats", "", "what was computed and what is cached", &Chat::Stats},
      CommandInfo{"/help", "", "this text", &Chat::Help},
      CommandInfo{"/quit", "", "end; so does the end of the input (Ctrl-D)", &Chat::Quit},
      CommandInfo{"/exit", "", "the same", &Chat::Quit},
  };
  return kCommands;
}

void Chat::Begin(const std::string& path) {
  conversation_.SetMessages(ParseMessages(ReadText(path), path));
  if (!arguments_.Given("system")) return;
  if (conversation_.has_system()) {
    console_.Remark(
        fmt::format("{} takes the place of the system message in {}", arguments_.Origin("system"), Printable(path)));
  }
  conversation_.SetSystem(arguments_.Text("system"));
}

std::optional<StayOnInterrupt> Chat::Welcome() {
  if (!editor_.interactive()) return std::nullopt;
  if (console_.json()) {
    throw Error(ErrorCode::kInvalidArgument, "--json is for messages from a pipe", "stdin and stdout are a terminal",
                "ekvi chat --json < messages.txt, or leave --json out");
  }
  console_.Remark("a message a line; /help lists the commands");
  return std::optional<StayOnInterrupt>(std::in_place);
}

int Chat::Run(const std::optional<std::string>& first) {
  const auto stay = Welcome();
  if (first) Attempt([&] { Turn(*first); });
  while (!over_) {
    if (editor_.interactive() && InterruptSignal() == SIGINT) ForgetInterrupt();  // it came just after a reply
    const Typed typed = NextMessage();
    if (typed.kind == Typed::Kind::kEnd) break;
    if (typed.kind == Typed::Kind::kInterrupt) {
      if (!TakeInterrupt(typed.empty)) return kInterrupted;
      continue;
    }
    warned_ = false;
    Attempt([&] { TakeLine(typed.line); });
  }
  Conclude();
  return exit_;
}

// A line, or the lines of one message. Where the input ends in between, the message is what there is.
Typed Chat::NextMessage() {
  Typed typed = editor_.Next("> ");
  if (typed.kind != Typed::Kind::kLine || IsCommand(typed.line)) return typed;
  while (typed.line.ends_with('\\')) {
    const Typed more = editor_.Next("... ");
    if (more.kind == Typed::Kind::kInterrupt) return {.kind = more.kind, .empty = false};
    typed.line.pop_back();
    if (more.kind == Typed::Kind::kEnd) break;
    if (typed.line.size() + more.line.size() >= kLongestMessage) {
      throw Error(ErrorCode::kInvalidArgument, "the lines are too long for one message", "more than 64 MiB",
                  "a line without a backslash at its end between messages");
    }
    typed.line += "\n" + more.line;
  }
  return typed;
}

// One bad turn ends a script, not a conversation.
void Chat::Attempt(const std::function<void()>& turn) {
  try {
    turn();
  } catch (const Error& error) {
    if (!editor_.interactive()) throw;
    console_.Report(error);
  } catch (const std::bad_alloc& error) {
    if (!editor_.interactive()) throw;
    console_.Report(error);
  }
}

// False where it is the second in a row.
bool Chat::TakeInterrupt(bool line_empty) {
  if (!editor_.interactive() || (warned_ && line_empty)) return false;
  warned_ = true;
  console_.Tell("Ctrl-C again, Ctrl-D or /quit ends; /save FILE keeps the conversation");
  return true;
}

void Chat::TakeLine(const std::string& line) {
  if (line.empty()) return;
  if (IsCommand(line)) return TakeCommand(line);
  Turn(line.starts_with("//") ? line.substr(1) : line);
}

void Chat::TakeCommand(const std::string& line) {
  const size_t blank = std::min(line.find_first_of(" \t"), line.size());
  const std::string name = line.substr(0, blank);
  const std::string argument(Trimmed(std::string_view(line).substr(blank)));
  for (const CommandInfo& command : Commands()) {
    if (command.name != name) continue;
    if (command.argument.empty() && !argument.empty()) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} takes no argument", name),
                  fmt::format("got {}", Quoted(argument)),
                  fmt::format("{}, or //{} to begin a message with it", name, name.substr(1)));
    }
    if (!command.argument.empty() && (argument.empty() || argument == "-")) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} needs a file", name), "",
                  fmt::format("{} chat.json", name));
    }
    return (this->*command.run)(argument);
  }
  RefuseCommand(name);
}

void Chat::Help(const std::string&) {
  Table table;
  for (const CommandInfo& command : Commands()) {
    const std::string blank = command.argument.empty() ? "" : " ";
    table.Add({fmt::format("{}{}{}", command.name, blank, command.argument), std::string(command.help)});
  }
  console_.Tell(table.Render() +
                "A line that ends in \\ goes on in the next one. A line that begins with // is a message\n"
                "that begins with one /. Ctrl-C stops a reply and keeps what came of it; at the prompt\n"
                "it clears the message, twice it ends.");
}

void Chat::Quit(const std::string&) { over_ = true; }

void Chat::Undo(const std::string&) {
  console_.Remark(conversation_.Undo()
                      ? fmt::format("taken back; {} cached", CountOf(session_.cache().length(0), "token"))
                      : "there is nothing to take back");
}

void Chat::Reset(const std::string&) {
  conversation_.Reset();
  console_.Remark("a new conversation");
}

void Chat::Save(const std::string& path) {
  const std::string file = FromHome(path);
  CheckWritable(file);
  if (arguments_.Given("model")) RefuseSameFile(arguments_.Text("model"), file);
  WriteAnswer(file, SavedText(conversation_.messages()));
  console_.Remark(fmt::format("{} in {}", MessageCount(), Printable(file)));
}

void Chat::Load(const std::string& path) {
  const std::string file = FromHome(path);
  const bool had_system = conversation_.has_system();
  conversation_.SetMessages(ParseMessages(ReadText(file), file));
  const std::string_view system = !had_system                  ? ""
                                  : conversation_.has_system() ? "; its system message is in force now"
                                                               : "; it has no system message";
  console_.Remark(fmt::format("{} from {}{}", MessageCount(), Printable(file), system));
}

void Chat::Stats(const std::string&) {
  const KvCache::Held held = session_.cache().held(0);
  console_.Tell(fmt::format("{} | {} | prompts: {} computed, {} from the cache | replies: {} | KV {} of {}, {}",
                            MessageCount(), CountOf(record_->turns, "turn"), CountOf(record_->computed, "token"),
                            Count(record_->cached), CountOf(record_->replied, "token"),
                            Count(session_.cache().length(0)), CountOf(session_.options().context, "token"),
                            Bytes(held.bytes)));
}

std::string Chat::MessageCount() const {
  return CountOf(static_cast<int64_t>(conversation_.messages().size()), "message");
}

void Chat::Turn(std::string text) {
  const TurnPlan plan = Ask(std::move(text));
  GenerateResult result;
  try {
    result = Reply(plan);
  } catch (...) {
    conversation_.Undo();
    throw;
  }
  const int signal = InterruptSignal();
  const bool stopped = result.finish == FinishReason::kCancelled && signal != 0;
  if (stopped && result.tokens.empty()) {
    conversation_.Undo();
    console_.Remark("stopped before the reply began: the message is taken back");
  } else {
    conversation_.Answered(result.text);
    if (!console_.json()) console_.Answer("\n");
    // The turn's prompt is the whole conversation, of which most is cached.
    result.stats.prompt_tokens = plan.kept + static_cast<int64_t>(plan.tokens.size());
    result.stats.cached_tokens = plan.kept;
    Summarise(plan, result);
  }
  if (stopped && (!editor_.interactive() || signal == SIGTERM)) {
    over_ = true;
    exit_ = 128 + signal;
  }
}

// What does not fit is the message's fault here, not the memory's.
TurnPlan Chat::Ask(std::string text) {
  try {
    return conversation_.Ask(std::move(text));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCapacity) throw;
    const int64_t maximum = session_.model().info().context;
    const std::string larger =
        session_.options().context < maximum ? fmt::format("; begin again with --ctx {}", maximum) : "";
    throw ExitError(kUsage, error.code(), error.summary(), error.numbers(),
                    fmt::format("/undo, /reset, or {}{}", error.hint(), larger));
  }
}

GenerateResult Chat::Reply(const TurnPlan& plan) {
  const CancelOnInterrupt cancel(session_);
  std::exception_ptr failure;
  const auto deliver = [&](std::string_view text) {
    if (failure || console_.json()) return;
    try {
      console_.Answer(text);
    } catch (...) {
      failure = std::current_exception();
      session_.Cancel();
    }
  };
  GenerateResult result = session_.Generate(std::span<const int32_t>(plan.tokens), sampling_, stops_, deliver);
  if (failure) std::rethrow_exception(failure);
  return result;
}

void Chat::Summarise(const TurnPlan& plan, const GenerateResult& result) {
  const auto computed = static_cast<int64_t>(plan.tokens.size());
  record_->turns += 1;
  record_->cached += plan.kept;
  record_->computed += computed;
  record_->replied += result.stats.new_tokens;
  if (plan.dropped > 0) {
    console_.Remark(fmt::format("the text of earlier messages has changed: {} of {} kept, {} computed again",
                                CountOf(plan.kept, "cached token"), Count(plan.kept + plan.dropped),
                                Count(std::min(plan.dropped, computed))));
  }
  if (console_.json()) {
    record_->reports.push_back(GenerationJson(result, true));
    record_->reports.back()["dropped_tokens"] = plan.dropped;
  }
  console_.Remark(
      SummaryLine({.result = result,
                   .reuse = true,
                   .max_tokens = stops_.max_tokens,
                   .cut = fmt::format("cut off by {} {}", arguments_.Origin("max-tokens"), Count(stops_.max_tokens))}));
}

void Chat::Conclude() {
  if (console_.json()) {
    Json report = ReportFor(arguments_, &session_.model());
    report["results"] = {{"messages", MessagesJson(conversation_.messages())}, {"turns", record_->reports}};
    report["warnings"] = Json::array();
    console_.Answer(JsonText(report));
  }
  console_.Finish();
}

}  // namespace ekvi::cli
