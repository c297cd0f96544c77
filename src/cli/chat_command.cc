// `ekvi chat`: what it takes, and what it begins with. The turns are in chat.h.
#include <optional>
#include <string>

#include "cli/arguments.h"
#include "cli/chat.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/sampling_options.h"
#include "cli/session_setup.h"
#include "ekvi/error.h"

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

ModelTemplate TemplateOf(const Arguments& arguments) {
  return arguments.Given("model") ? LoadTemplate(arguments.Text("model")) : ModelTemplate{};
}

std::optional<std::string> FirstMessage(const Arguments& arguments) {
  if (arguments.positional().empty()) return std::nullopt;
  if (!arguments.positional()[0].empty()) return arguments.positional()[0];
  throw Error(ErrorCode::kInvalidArgument, "the message is empty", "0 bytes, it takes 1 or more",
              "a message, or none to be asked for one");
}

int Run(const Arguments& arguments, Console& console) {
  const SamplingOptions sampling = SamplingOf(arguments);
  StopsOf(arguments);  // what is wrong is refused before the model is loaded
  SessionOptionsOf(arguments, 0);
  if (arguments.Given("load") && arguments.Text("load") == "-") {
    throw Error(ErrorCode::kInvalidArgument, "--load reads a file", "stdin is for the messages", "--load chat.json");
  }
  const std::optional<std::string> first = FirstMessage(arguments);
  const ModelTemplate found = TemplateOf(arguments);
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  model->tokenizer();  // throws where there is none: nobody can talk in token ids
  CheckBiases(sampling, model->info().vocabulary);
  const Context context = ContextOf(arguments, *model);
  Session session(model, SessionOptionsOf(arguments, context.tokens));
  Chat chat(arguments, console, session, found);
  console.Remark(HeaderLine(session));
  if (chat.plain()) {
    console.Remark("the model has no chat template: each message is a line of plain text that it goes on from");
  }
  if (arguments.Given("load")) chat.Begin(arguments.Text("load"));
  return chat.Run(first);
}

}  // namespace

const Command& ChatCommand() {
  static const Command kCommand = {
      .name = "chat",
      .summary = "several turns with a model",
      .usage = "[-m MODEL] [MESSAGE]",
      .note =
          "A line is a message, the argument the first message. A line that ends in a\n"
          "backslash goes on in the next one. /help lists the commands.",
      .details =
          "A line is a message; the reply streams to stdout, everything else goes to stderr. On a terminal lines can "
          "be edited and called back; from a pipe each line is a turn, without prompts, so that scripts can talk. A "
          "line that ends in a backslash goes on in the next one: the message then has a line feed in place of the "
          "backslash (a blank behind it, and it stays); a command is one line. The argument is the first message, as "
          "it stands; the lines "
          "follow it.\n\n"
          "The model's chat template makes the text. What messages say stays text: names of control tokens in them "
          "never become those tokens. Where a model has no template, as the embedded one, each message and reply is a "
          "line "
          "of plain text.\n\n"
          "What is cached stays: a turn computes its own tokens only, and its summary says how many were cached. Where "
          "the template changes earlier messages (some leave out earlier reasoning), the longest common beginning "
          "stays, and the summary says what is computed again. A reply that `-n` cuts off is marked so. A message "
          "that does not fit the context is refused with the numbers, and the conversation stays as it was.\n\n"
          "Commands: `/undo` takes back the last message and its reply, `/reset` begins anew, `/save FILE` writes the "
          "conversation as JSON, which `/load FILE`, `--load` and `ekvi template --input` read, `/stats`, `/help`, "
          "`/quit`. `//` begins a message with a `/`. With `--load`, `--system` takes the place of the file's system "
          "message; `/load` takes that of the file.\n\n"
          "Ctrl-C stops a reply, and the conversation goes on with what came; at the prompt it clears the message, and "
          "a second one in a row, as Ctrl-D, ends. On a terminal errors end a turn only; from a pipe the first one "
          "ends "
          "with its exit code (2 for a message that does not fit the context).\n\n"
          "`--json`, from a pipe: one object at the end; `results` has the `messages`, and in `turns` for each reply "
          "the fields of `ekvi generate --json` with `dropped_tokens`, cached ones that the template changed.",
      .example = "ekvi chat -m model.gguf --system \"Be brief.\" \"What is a cache?\"",
      .groups = {{"Chat", kOptions},
                 SamplingGroup(),
                 SeedGroup(),
                 ModelGroup(),
                 ComputeGroup(),
                 CacheGroup(),
                 RunGroup(),
                 ReportGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
