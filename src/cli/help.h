// Help texts, each at most 24 lines of 80 columns; and docs/commands.md, from the same tables.
#pragma once

#include <string>

#include "cli/command.h"

namespace ekvi::cli {

std::string ProgramHelp();
std::string CommandHelp(const Command& command);
// The options that commands share.
std::string OptionsHelp();
// docs/commands.md, byte for byte.
std::string ReferencePage();

}  // namespace ekvi::cli
