// Help on the program, a command, the shared options; and the reference page.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/help.h"
#include "cli/suggest.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

const Command& Topic(const std::string& name) {
  std::vector<std::string> topics{"options", "reference"};
  for (const Command* command : AllCommands()) {
    if (command->name == name) return *command;
    topics.emplace_back(command->name);
  }
  const auto meant = Closest(name, topics);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("there is no help on {}", Quoted(name)), "",
              meant ? fmt::format("did you mean ekvi help {}?", *meant) : "ekvi help lists the commands");
}

int Run(const Arguments& arguments, Console& console) {
  const std::string topic = arguments.positional().empty() ? "" : arguments.positional()[0];
  if (topic.empty()) {
    console.Answer(ProgramHelp());
  } else if (topic == "options") {
    console.Answer(OptionsHelp());
  } else if (topic == "reference") {
    console.Answer(ReferencePage());
  } else {
    console.Answer(CommandHelp(Topic(topic)));
  }
  return kOk;
}

}  // namespace

const Command& HelpCommand() {
  static const Command kCommand = {
      .name = "help",
      .summary = "help on ekvi, a command, or the shared options",
      .usage = "[COMMAND | options | reference]",
      .details = "`ekvi help reference` prints this page.",
      .example = "ekvi help generate",
      .words = "generate|chat|verify|inspect|tokenize|template|logits|bench|doctor|completion|options|reference",
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
