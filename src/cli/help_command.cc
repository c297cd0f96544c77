// Help on the program, a command, the shared options; and the reference page.
#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/help.h"

namespace ekvi::cli {
namespace {

int Run(const Arguments& arguments, Console& console) {
  const std::string topic = arguments.positional().empty() ? "" : arguments.positional()[0];
  if (topic.empty()) {
    console.Answer(ProgramHelp());
  } else if (topic == "options") {
    console.Answer(OptionsHelp());
  } else if (topic == "reference") {
    console.Answer(ReferencePage());
  } else {
    console.Answer(CommandHelp(FindCommand(topic)));
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
