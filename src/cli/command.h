// One verb of the program.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/option.h"

namespace ekvi::cli {

class Arguments;
class Console;

struct Command {
  std::string_view name = "";            // "generate"
  std::string_view summary = "";         // one line for the list of commands, no full stop
  std::string_view usage = "";           // what follows the name: "[-m MODEL] [PROMPT]"
  std::string_view note = "";            // lines for its help, under the summary
  std::string_view details = "";         // paragraphs for docs/commands.md, after the summary
  std::string_view example = "";         // one command line
  std::vector<OptionGroup> groups = {};  // its own options first
  std::string_view words =
      "";                 // what its positional arguments may be, for completion: "bash|zsh|fish"; empty: anything
  int arguments_max = 1;  // positional arguments
  // Returns an exit code (cli/exit_code.h) or throws.
  int (*run)(const Arguments& arguments, Console& console) = nullptr;

  // The option of that long name (without dashes) or letter; null where it has none.
  const Option* Find(std::string_view name) const;
  const Option* Find(char letter) const;
};

}  // namespace ekvi::cli
