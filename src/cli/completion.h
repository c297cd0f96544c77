// Completion scripts for shells, from the table of commands.
#pragma once

#include <string>
#include <string_view>

namespace ekvi::cli {

std::string BashCompletion();
std::string ZshCompletion();
std::string FishCompletion();

}  // namespace ekvi::cli
