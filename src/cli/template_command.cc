// Renders a chat template with an input, as chat and servers do.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/input.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "ekvi/chat_template.h"

namespace ekvi::cli {
namespace {

// What strftime_now gives where --date does not say otherwise, whatever the format: a rendering is then the same on
// every day. The reference renderings of public templates that the tests compare with have this date too.
constexpr std::string_view kFixedDate = "26 Jul 2026";

constexpr Option kOptions[] = {
    {.name = "input",
     .letter = 'i',
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "JSON object with messages …; - for stdin"},
    {.name = "date",
     .kind = ValueKind::kText,
     .value = "now|TEXT",
     .fallback = kFixedDate,
     .help = "what strftime_now gives; now: the clock"},
};

struct TemplateSource {
  ChatTemplate chat;
  decltype(TemplateOptions::defaults) defaults = {};
};

TemplateSource SourceOf(const Arguments& arguments) {
  const bool has_file = !arguments.positional().empty();
  const bool has_model = arguments.source("model") == Source::kFlag;
  if (has_file && has_model) {
    throw Error(ErrorCode::kInvalidArgument, "the template is given twice",
                fmt::format("as the argument {} and by --model {}", Quoted(arguments.positional()[0]),
                            Quoted(arguments.Text("model"))),
                "leave one of them out");
  }
  if (has_file) {
    const std::string& path = arguments.positional()[0];
    return {ChatTemplate::Parse(ReadText(path), path == "-" ? "stdin" : path)};
  }
  if (!arguments.Given("model")) {
    throw Error(ErrorCode::kInvalidArgument, "there is no template", "", "ekvi template FILE.jinja, or -m MODEL");
  }
  const std::string path = arguments.Text("model");
  const ModelTemplate found = LoadTemplate(path);
  if (found.source.empty()) {
    throw Error(ErrorCode::kUnsupported, path + " has no chat template", "", "ekvi template FILE.jinja --input FILE");
  }
  TemplateSource source{ChatTemplate::Parse(found.source, found.name)};
  if (!found.begin_token.empty()) source.defaults.emplace_back("bos_token", found.begin_token);
  if (!found.end_token.empty()) source.defaults.emplace_back("eos_token", found.end_token);
  return source;
}

TemplateOptions OptionsOf(const Arguments& arguments, const TemplateSource& source) {
  TemplateOptions options{.strftime_now = {}, .defaults = source.defaults};
  const std::string date = arguments.Text("date");
  if (date != "now") options.strftime_now = [date](std::string_view) { return date; };
  return options;
}

// Whatever is wrong with a template or its input is wrong with a file that the user named.
std::string Render(const TemplateSource& source, const std::string& input, const Arguments& arguments) {
  try {
    return source.chat.Render(input, OptionsOf(arguments, source));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw ExitError(kFile, error.code(), error.summary(), error.numbers(), error.hint());
  }
}

int Run(const Arguments& arguments, Console& console) {
  if (!arguments.Given("input")) {
    throw Error(ErrorCode::kInvalidArgument, "there is no input", "", "--input FILE, a JSON object with messages");
  }
  const TemplateSource source = SourceOf(arguments);
  const std::string text = Render(source, ReadText(arguments.Text("input")), arguments);
  if (console.json()) {
    Json report = ReportFor(arguments, nullptr);
    report["results"] = {{"text", text}};
    report["warnings"] = Json::array();
    console.Answer(JsonText(report));
  } else {
    console.Answer(text);
    if (console.answers_terminal() && !text.ends_with('\n')) console.Answer("\n");
  }
  console.Finish();
  return kOk;
}

}  // namespace

const Command& TemplateCommand() {
  static const Command kCommand = {
      .name = "template",
      .summary = "the text that a chat template makes of messages",
      .usage = "(FILE.jinja | -m MODEL) --input INPUT.json",
      .details =
          "The template is a file, or that of a model (a GGUF file, which needs no weights, or a Hugging Face folder), "
          "whose begin and end tokens are then `bos_token` and `eos_token` where the input does not have them. The "
          "input is a JSON object with `messages`, and with `tools`, `add_generation_prompt`, `bos_token`, `eos_token` "
          "and whatever else the template reads. Prints the text, every byte of it.\n\n"
          "A template that raises an exception, as some do for roles out of order, ends the command with exit code 3 "
          "and its own message. `strftime_now` gives the text of `--date`, so that the same input always gives the "
          "same text; `--date now` asks the clock, as `ekvi chat` does.\n\n"
          "`--json` `results`: `text`.",
      .example = "ekvi template chat.jinja --input messages.json",
      .groups = {{"Template", kOptions}, ModelGroup(), OutputGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
