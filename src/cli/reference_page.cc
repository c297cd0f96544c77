// docs/commands.md: the tables of commands, options and exit codes as one page.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/help.h"
#include "cli/options.h"

namespace ekvi::cli {
namespace {

std::string Escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

// `-n`, `--max-tokens N`.
std::string SpellingCell(const Option& option) {
  const std::string letter = option.letter != 0 ? fmt::format("`-{}`, ", option.letter) : "";
  const std::string_view value = ValueName(option);
  return fmt::format("{}`{}{}{}`", letter, LongName(option), value.empty() ? "" : " ", Escaped(value));
}

std::string OptionTable(std::span<const Option> options) {
  std::string text = "| option | environment | default | what |\n|---|---|---|---|\n";
  for (const Option& option : options) {
    const std::string environment =
        option.environment == Environment::kRead ? fmt::format("`{}`", EnvironmentName(option)) : "";
    const std::string fallback = option.fallback.empty() ? "" : fmt::format("`{}`", option.fallback);
    text += fmt::format("| {} | {} | {} | {} |\n", SpellingCell(option), environment, fallback, Escaped(option.help));
  }
  return text;
}

// Paragraphs as lines of at most kColumns, broken at blanks.
std::string Wrapped(std::string_view text) {
  static constexpr size_t kColumns = 110;
  std::string wrapped;
  size_t line = 0;  // bytes of the last line
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const bool fits = line + 1 + (end - at) <= kColumns;
    if (line > 0) wrapped += fits ? ' ' : '\n';
    line = line > 0 && fits ? line + 1 + (end - at) : end - at;
    wrapped += text.substr(at, end - at);
    at = text.find_first_not_of(" \n", end);
    const std::string_view gap = text.substr(end, at == std::string_view::npos ? at : at - end);
    if (gap.find('\n') != std::string_view::npos) {
      wrapped += gap;
      line = 0;
    }
  }
  return wrapped;
}

std::string CommandSection(const Command& command) {
  const std::string usage =
      fmt::format("`ekvi {}{}{}`: {}.", command.name, command.usage.empty() ? "" : " ", command.usage, command.summary);
  std::string text = fmt::format("## ekvi {}\n\n{}\n\n{}\n", command.name, Wrapped(usage), Wrapped(command.details));
  std::string shared;
  for (const OptionGroup& group : command.groups) {
    if (group.sharing == Sharing::kOwn) {
      text += "\n" + OptionTable(group.options);
      continue;
    }
    for (const Option& option : group.options)
      shared += fmt::format("{}`{}`", shared.empty() ? "" : ", ", LongName(option));
  }
  if (!shared.empty()) text += fmt::format("\n{}\n", Wrapped(fmt::format("Shared options: {}.", shared)));
  return text + fmt::format("\nExample: `{}`\n\n", command.example);
}

constexpr std::string_view kIntroduction =
    "# Commands\n\n"
    "This page is printed by `ekvi help reference`, from the tables that parsing, help and completion use; a test "
    "compares it.\n\n"
    "The answer goes to stdout and nothing else does; what ekvi decided, and why, goes to stderr, and `-q` silences "
    "it. A value "
    "is taken from the flag, else from the environment, else the default is used. A value that was given is never "
    "changed: "
    "what cannot be done as asked is refused, with the numbers and what to try. Names of options and commands that are "
    "misspelt get \"did you mean\", and variables that begin with `EKVI_` and mean nothing are said. Numbers on a "
    "terminal have units; in JSON they are bytes and nanoseconds.\n\n"
    "`--json` prints one object: `schema` (\"ekvi.generate/1\"), `version`, `build`, `machine`, `model`, `params` "
    "(every option "
    "in force), then the command's own fields, and `warnings`. Fields are only ever added. It is always valid UTF-8: "
    "bytes that are not become U+FFFD; numbers that are not finite become `null`.\n\n"
    "Control characters and broken UTF-8 in messages are written `\\xNN`, so that no file name can steer a "
    "terminal.\n\n";

}  // namespace

std::string ReferencePage() {
  std::string text = Wrapped(kIntroduction);
  for (const Command* command : AllCommands()) text += CommandSection(*command);
  text += "## Shared options\n\n";
  for (const OptionGroup* group : SharedGroups()) {
    text += fmt::format("{}:\n\n{}\n", group->title, OptionTable(group->options));
    if (!group->notes.empty()) text += Wrapped(group->notes) + "\n\n";
  }
  text += "## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const ExitMeaning& exit : ExitMeanings())
    text += fmt::format("| {} | {} |\n", static_cast<int>(exit.code), exit.meaning);
  return text;
}

}  // namespace ekvi::cli
