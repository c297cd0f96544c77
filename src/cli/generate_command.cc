// One completion. The text streams to stdout as it is made; what was decided, and what it cost, goes to stderr.
#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/generate_summary.h"
#include "cli/input.h"
#include "cli/interrupts.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/sampling_options.h"
#include "cli/session_setup.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "file",
     .letter = 'f',
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "prompt from a file, - for stdin"},
    {.name = "ignore-end", .help = "go on after the model's end token"},
    {.name = "no-cache", .help = "compute everything again for each token"},
};

// The last line feed of a file or a pipe is the editor's or echo's, not the prompt's. Without any prompt the model
// begins by itself, after its begin token.
std::string PromptOf(const Arguments& arguments) {
  std::string prompt = InputText(arguments, "file").value_or("");
  const bool typed = !arguments.positional().empty();
  if (!typed && prompt.ends_with('\n')) prompt.pop_back();
  return prompt;
}

// Hands text on as it comes. An answer that cannot be written ends the generation, and is thrown after it.
class Stream {
 public:
  Stream(Session& session, Console& console, Progress& progress)
      : session_(session), console_(console), progress_(progress) {}

  void operator()(std::string_view text) {
    progress_.Clear();
    if (InterruptSignal() != 0 || failure_) session_.Cancel();
    if (failure_ || console_.json()) return;
    try {
      console_.Answer(text);
    } catch (...) {
      failure_ = std::current_exception();
      session_.Cancel();
    }
  }

  void Rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  Session& session_;
  Console& console_;
  Progress& progress_;
  std::exception_ptr failure_;
};

// An explicit number of tokens must fit beside the prompt; the default one is what the context leaves.
Demand DemandOf(const Arguments& arguments, const std::vector<int32_t>& prompt) {
  return {.prompt = static_cast<int64_t>(prompt.size()),
          .new_tokens = arguments.Given("max-tokens") ? arguments.Integer("max-tokens").value() : 0};
}

GenerateResult Generate(const Arguments& arguments, Session& session, const std::vector<int32_t>& prompt,
                        Console& console, Progress& progress) {
  const CancelOnInterrupt cancel(session);
  Stream stream(session, console, progress);
  progress.Stage(fmt::format("prefill of {}", CountOf(static_cast<int64_t>(prompt.size()), "token")));
  const auto deliver = [&](std::string_view text) { stream(text); };
  GenerateResult result = session.Generate(prompt, SamplingOf(arguments), StopsOf(arguments), deliver);
  progress.Clear();
  stream.Rethrow();
  return result;
}

// Where nothing was generated, why, and what to try: most models that were trained for conversations end at once where
// their template is left out, and an empty answer alone would look like a fault.
std::string Emptiness(const GenerateResult& result) {
  if (result.finish != FinishReason::kEnd || !result.text.empty()) return "";
  return "the model ended at once, without text; try: ekvi chat, which uses the model's template, or --ignore-end";
}

void Conclude(const Arguments& arguments, const Session& session, const GenerateResult& result, Console& console) {
  const bool reuse = session.options().reuse;
  const std::string emptiness = Emptiness(result);
  if (console.json()) {
    Json report = ReportFor(arguments, &session.model());
    report["results"] = GenerationJson(result, reuse);
    report["warnings"] = emptiness.empty() ? Json::array() : Json::array({emptiness});
    console.Answer(JsonText(report));
  } else if (console.answers_terminal()) {
    console.Answer("\n");
  }
  console.Finish();
  console.Remark(
      SummaryLine({.result = result, .reuse = reuse, .max_tokens = arguments.Integer("max-tokens").value()}));
  if (!emptiness.empty()) console.Remark(emptiness);
}

int Run(const Arguments& arguments, Console& console) {
  const std::string text = PromptOf(arguments);
  const SamplingOptions sampling = SamplingOf(arguments);
  StopsOf(arguments);  // what is wrong is refused before the model is loaded
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  CheckBiases(sampling, model->info().vocabulary);
  const std::vector<int32_t> prompt = model->tokenizer().Encode(text);
  const Context context = ContextOf(arguments, *model);
  CheckFits(DemandOf(arguments, prompt), context, *model);
  SessionOptions options = SessionOptionsOf(arguments, context.tokens);
  options.reuse = !arguments.Flag("no-cache");
  Session session(model, options);
  console.Remark(HeaderLine(session));
  console.Detail(fmt::format("ctx: {} | seed {} | temperature {}", context.reason, arguments.Text("seed"),
                             arguments.Text("temp")));
  const GenerateResult result = Generate(arguments, session, prompt, console, progress);
  Conclude(arguments, session, result, console);
  return result.finish == FinishReason::kCancelled ? 128 + InterruptSignal() : kOk;
}

}  // namespace

const Command& GenerateCommand() {
  static const Command kCommand = {
      .name = "generate",
      .summary = "one completion of a prompt",
      .usage = "[-m MODEL] [PROMPT]",
      .details =
          "The prompt is the argument, the file of `-f`, or stdin where that is no terminal (one line feed at the end "
          "of a "
          "file or of stdin is not part of it); without any, or with `''`, the model begins by itself after its begin "
          "token, if it has one. The text streams to stdout and nothing else does; it ends with a line feed on a "
          "terminal only. What "
          "was "
          "decided and what it cost are one line each on stderr. No chat template is used: a model trained for "
          "conversations may end at once, which is said; `ekvi chat` is for it.\n\n"
          "A prompt that does not fit the context is refused, and so is an explicit `-n` that does not fit beside it; "
          "without `-n`, generation also ends where the context does. `--no-cache` gives the same text and shows the "
          "price. "
          "Ctrl-C or SIGTERM ends after the current token with what was generated written; a second one ends at once. "
          "Where the reader of stdout closes the pipe, generation ends quietly.\n\n"
          "`--json` `results`: `text`, `tokens`, `finish` (`end`, `stop`, `length`, `cancelled`), counts of tokens, "
          "times in "
          "nanoseconds (`first_token_ns` from the start, `token_p95_ns` between tokens), `kv_tokens`, `kv_bytes`, "
          "`kv_blocks`.",
      .example = "ekvi generate \"Once upon a time\" -n 64 --temp 0",
      .groups = {{"Text", kOptions},
                 SamplingGroup(),
                 SeedGroup(),
                 ModelGroup(),
                 ComputeGroup(),
                 CacheGroup(),
                 RunGroup(),
                 OutputGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
