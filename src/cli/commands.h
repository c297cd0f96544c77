// The table of commands. A new one is a file NAME_command.cc with one function, and its line in commands.cc.
#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"

namespace ekvi::cli {

const Command& GenerateCommand();
const Command& ChatCommand();
const Command& VerifyCommand();
const Command& InspectCommand();
const Command& TokenizeCommand();
const Command& TemplateCommand();
const Command& LogitsCommand();
const Command& BenchCommand();
const Command& DoctorCommand();
const Command& CompletionCommand();
const Command& HelpCommand();

// All of them, in the order of the help.
std::span<const Command* const> AllCommands();
// Throws Error(kInvalidArgument) with the nearest name where there is none of this name.
const Command& FindCommand(std::string_view name);

}  // namespace ekvi::cli
