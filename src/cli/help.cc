#include "cli/help.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/sampling_options.h"
#include "cli/table.h"

namespace ekvi::cli {
namespace {

constexpr int kColumns = 80;

std::string HelpText(const Option& option) {
  return option.fallback.empty() ? std::string(option.help) : fmt::format("{} [{}]", option.help, option.fallback);
}

void AddOptions(const OptionGroup& group, Table& table) {
  for (const Option& option : group.options) table.Add({Spelling(option), HelpText(option)});
}

// "-m MODEL", "--kv paged|contiguous".
std::string ShortSpelling(const Option& option) {
  const std::string name = option.letter != 0 ? fmt::format("-{}", option.letter) : LongName(option);
  return ValueName(option).empty() ? name : fmt::format("{} {}", name, ValueName(option));
}

// Words one after the other, two blanks apart, in lines that fit.
std::string Wrapped(const std::vector<std::string>& words) {
  std::string text, line;
  for (const std::string& word : words) {
    if (!line.empty() && DisplayWidth(line) + 2 + DisplayWidth(word) > kColumns) {
      text += line + "\n";
      line.clear();
    }
    line += "  " + word;
  }
  return line.empty() ? text : text + line + "\n";
}

}  // namespace

std::string ProgramHelp() {
  Table commands;
  for (const Command* command : AllCommands())
    commands.Add({std::string(command->name), std::string(command->summary)});
  return fmt::format(
      "ekvi {}: key/value caches and exact attention for transformers on CPUs\n\n"
      "usage: ekvi COMMAND [OPTION...] [ARGUMENT]\n\n"
      "{}\n"
      "  ekvi help COMMAND   its options (also ekvi COMMAND -h)\n"
      "  ekvi help options   the options that commands share\n"
      "  ekvi --version\n",
      Version(), commands.Render("  "));
}

std::string CommandHelp(const Command& command) {
  Table own;
  std::vector<std::string> shared;
  for (const OptionGroup& group : command.groups) {
    if (group.sharing == Sharing::kOwn) {
      AddOptions(group, own);
      continue;
    }
    for (const Option& option : group.options) shared.push_back(ShortSpelling(option));
  }
  const std::string_view blank = command.usage.empty() ? "" : " ";
  const std::string note = command.note.empty() ? "" : fmt::format("{}\n", command.note);
  std::string text =
      fmt::format("usage: ekvi {}{}{}\n{}\n{}\n", command.name, blank, command.usage, command.summary, note);
  if (const std::string options = own.Render("  "); !options.empty()) text += options + "\n";
  if (!shared.empty()) text += fmt::format("shared (ekvi help options):\n{}\n", Wrapped(shared));
  return text + fmt::format("example: {}\n", command.example);
}

std::string OptionsHelp() {
  Table table;
  for (const OptionGroup* group : SharedGroups()) {
    if (group != &SamplingGroup()) AddOptions(*group, table);  // ekvi help generate has them, and the screen is full
  }
  return fmt::format(
      "Options that commands share; each command takes those it has a use for. Those of\n"
      "sampling: ekvi help generate.\n\n"
      "{}\n"
      "A flag goes before the environment, that before the default. The environment's\n"
      "name is EKVI_ and the option's: EKVI_KV_TYPE=f16 for --kv-type f16.\n",
      table.Render("  "));
}

}  // namespace ekvi::cli
