// Several turns with a model: a line is a message, a line that begins with / is a command.
#include <fmt/format.h>

#include <exception>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/conversation.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/generate_summary.h"
#include "cli/input.h"
#include "cli/interrupts.h"
#include "cli/line_editor.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/sampling_options.h"
#include "cli/session_setup.h"
#include "ekvi/write_file.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "system", .kind = ValueKind::kText, .value = "TEXT", .help = "what the system message says"},
    {.name = "load",
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "begin with a conversation of /save"},
};

constexpr std::string_view kHelp =
    "/undo        take back the last message and its reply\n"
    "/reset       begin anew\n"
    "/save FILE   write the conversation as JSON\n"
    "/load FILE   go on with a conversation of /save\n"
    "/stats       what was computed and what is cached\n"
    "/quit        end; so does the end of the input\n"
    "A line that begins with // is a message that begins with one /. Ctrl-C stops a reply.";

// What all turns did.
struct Totals {
  int64_t turns = 0, cached = 0, computed = 0, replied = 0;
};

class Chat {
 public:
  Chat(const Arguments& arguments, Console& console, Session& session, const ModelTemplate& found)
      : arguments_(arguments),
        console_(console),
        session_(session),
        conversation_(session, found, arguments.Text("system")),
        sampling_(SamplingOf(arguments)),
        stops_(StopsOf(arguments)) {}

  Conversation& conversation() { return conversation_; }

  // Turns until the input ends, /quit, or SIGTERM.
  int Run() {
    LineEditor editor;
    if (editor.interactive()) console_.Remark("a message a line; /help lists the commands");
    while (const auto line = editor.Next("> ")) {
      if (line->empty()) continue;
      const bool command = line->starts_with('/') && !line->starts_with("//");
      try {
        if (command && !Command(*line)) break;
        if (!command) Turn(line->starts_with("//") ? line->substr(1) : *line, editor);
      } catch (const Error& error) {
        // One bad turn ends a script, not a conversation.
        if (!editor.interactive()) throw;
        console_.Report(error);
      }
      if (ended_ != 0) return ended_;
    }
    console_.Finish();
    return kOk;
  }

 private:
  // False for /quit.
  bool Command(const std::string& line) {
    const size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank);
    const size_t begin = blank == std::string::npos ? blank : line.find_first_not_of(' ', blank);
    const std::string rest = begin == std::string::npos ? "" : line.substr(begin);
    if (name == "/quit" || name == "/exit") return false;
    if (name == "/help") {
      console_.Remark(kHelp);
    } else if (name == "/undo") {
      console_.Remark(conversation_.Undo() ? fmt::format("taken back; {} cached", CountOf(session_.length(), "token"))
                                           : "there is nothing to take back");
    } else if (name == "/reset") {
      conversation_.Reset();
      console_.Remark("a new conversation");
    } else if (name == "/stats") {
      Stats();
    } else if (name == "/save" || name == "/load") {
      File(name, rest);
    } else {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not a command", Quoted(name)), "",
                  "/help lists them; // begins a message with a /");
    }
    return true;
  }

  void File(const std::string& name, const std::string& path) {
    if (path.empty()) throw Error(ErrorCode::kInvalidArgument, name + " needs a file", "", name + " chat.json");
    if (name == "/save") {
      WriteFile(path, conversation_.Save());
      console_.Remark(fmt::format("{} in {}", Messages(), Printable(path)));
    } else {
      conversation_.Load(ReadText(path), path);
      console_.Remark(fmt::format("{} from {}", Messages(), Printable(path)));
    }
  }

  std::string Messages() const { return CountOf(static_cast<int64_t>(conversation_.messages().size()), "message"); }

  void Stats() {
    console_.Remark(fmt::format("{} | {} | prompts: {} computed, {} from the cache | replies: {} | KV {}, {}",
                                Messages(), CountOf(totals_.turns, "turn"), CountOf(totals_.computed, "token"),
                                Count(totals_.cached), CountOf(totals_.replied, "token"),
                                CountOf(session_.length(), "token"), Bytes(session_.cache().bytes())));
  }

  void Turn(std::string text, const LineEditor& editor) {
    const TurnPlan plan = conversation_.Ask(std::move(text));
    GenerateResult result;
    try {
      result = Reply(plan);
    } catch (...) {
      conversation_.Undo();
      throw;
    }
    conversation_.Answered(result.text);
    console_.Answer("\n");
    Summarise(plan, result);
    const int signal = InterruptSignal();
    if (result.finish == FinishReason::kCancelled && signal != 0) {
      ForgetInterrupt();
      if (!editor.interactive() || 128 + signal == kTerminated) ended_ = 128 + signal;
    }
  }

  GenerateResult Reply(const TurnPlan& plan) {
    const CancelOnInterrupt cancel(session_);
    std::exception_ptr failure;
    const auto deliver = [&](std::string_view text) {
      if (failure) return;
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

  void Summarise(const TurnPlan& plan, GenerateResult& result) {
    const auto computed = static_cast<int64_t>(plan.tokens.size());
    totals_.turns += 1;
    totals_.cached += plan.kept;
    totals_.computed += computed;
    totals_.replied += result.stats.new_tokens;
    if (plan.dropped > 0) {
      console_.Remark(fmt::format("the text of earlier messages has changed: {} of {} kept, {} computed again",
                                  CountOf(plan.kept, "cached token"), Count(plan.kept + plan.dropped),
                                  Count(std::min(plan.dropped, computed))));
    }
    // The turn's prompt is the whole conversation, of which most is cached.
    result.stats.prompt_tokens = plan.kept + computed;
    result.stats.cached_tokens = plan.kept;
    console_.Remark(
        SummaryLine({.result = result, .reuse = true, .max_tokens = arguments_.Integer("max-tokens").value()}));
  }

  const Arguments& arguments_;
  Console& console_;
  Session& session_;
  Conversation conversation_;
  SamplingOptions sampling_;
  StopOptions stops_;
  Totals totals_;
  int ended_ = 0;
};

ModelTemplate TemplateOf(const Arguments& arguments) {
  return arguments.Given("model") ? FindChatTemplate(arguments.Text("model")) : ModelTemplate{};
}

int Run(const Arguments& arguments, Console& console) {
  SamplingOf(arguments);  // refuses a bias before the model is loaded
  const ModelTemplate found = TemplateOf(arguments);
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  const Context context = ContextOf(arguments, *model);
  Session session(model, SessionOptionsOf(arguments, context.tokens));
  Chat chat(arguments, console, session, found);
  console.Remark(HeaderLine(session));
  if (chat.conversation().plain()) {
    console.Remark("the model has no chat template: each message is a line of plain text that it goes on from");
  }
  if (arguments.Given("load")) {
    const std::string path = arguments.Text("load");
    chat.conversation().Load(ReadText(path), path);
  }
  return chat.Run();
}

}  // namespace

const Command& ChatCommand() {
  static const Command kCommand = {
      .name = "chat",
      .summary = "several turns with a model",
      .usage = "[-m MODEL]",
      .details =
          "A line is a message; the reply streams to stdout, everything else goes to stderr. On a terminal lines can "
          "be "
          "edited and called back; from a pipe each line is a turn, without prompts, so that scripts can talk. The "
          "model's chat template makes the text. Where it has none, as the embedded model, each message and reply is a "
          "line of plain text.\n\n"
          "What is cached stays: a turn computes its own tokens only, and its summary says how many were cached. Where "
          "the template changes earlier messages (some leave out earlier reasoning), the longest common beginning "
          "stays, and the summary says what is computed again.\n\n"
          "Commands: `/undo` takes back the last message and its reply, `/reset` begins anew, `/save FILE` writes the "
          "conversation as JSON, which `/load FILE`, `--load` and `ekvi template --input` read, `/stats`, `/help`, "
          "`/quit`. `//` begins a message with a `/`. Ctrl-C stops a reply; the conversation goes on with what came.",
      .example = "ekvi chat -m model.gguf --system \"Be brief.\"",
      .groups = {{"Chat", kOptions},
                 SamplingGroup(),
                 SeedGroup(),
                 ModelGroup(),
                 ComputeGroup(),
                 CacheGroup(),
                 RunGroup(),
                 ReportGroup()},
      .arguments_max = 0,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
