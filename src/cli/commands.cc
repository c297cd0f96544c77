#include "cli/commands.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "cli/format.h"
#include "cli/suggest.h"
#include "ekvi/error.h"

namespace ekvi::cli {

std::span<const Command* const> AllCommands() {
  static const std::array kCommands = {
      &GenerateCommand(), &ChatCommand(),       &VerifyCommand(), &InspectCommand(),
      &TokenizeCommand(), &TemplateCommand(),   &LogitsCommand(), &BenchCommand(),
      &DoctorCommand(),   &CompletionCommand(), &HelpCommand(),
  };
  return kCommands;
}

const Command& FindCommand(std::string_view name) {
  std::vector<std::string> names;
  for (const Command* command : AllCommands()) {
    if (command->name == name) return *command;
    names.emplace_back(command->name);
  }
  // `./dev run` is generate, and other programs call it so.
  const auto meant = name == "run" ? std::string(GenerateCommand().name) : Closest(name, names);
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is not a command of ekvi", Quoted(name)), "",
              meant ? fmt::format("did you mean ekvi {}?", *meant) : "ekvi help lists the commands");
}

}  // namespace ekvi::cli
