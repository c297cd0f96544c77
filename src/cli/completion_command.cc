// Completion scripts on stdout.
#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/suggest.h"

namespace ekvi::cli {
namespace {

constexpr std::string_view kShells = "bash|zsh|fish";

std::string Script(const std::string& shell) {
  if (shell == "bash") return BashCompletion();
  if (shell == "zsh") return ZshCompletion();
  if (shell == "fish") return FishCompletion();
  const auto words = SplitWords(kShells);
  const auto meant = Closest(shell, std::vector<std::string>(words.begin(), words.end()));
  throw Error(ErrorCode::kInvalidArgument, fmt::format("completion: {} is not a shell it knows", Quoted(shell)),
              "it knows bash, zsh, fish", meant ? fmt::format("did you mean {}?", *meant) : "ekvi completion bash");
}

int Run(const Arguments& arguments, Console& console) {
  if (arguments.positional().empty()) {
    throw Error(ErrorCode::kInvalidArgument, "completion: which shell?", "it knows bash, zsh, fish",
                "ekvi completion bash");
  }
  console.Answer(Script(arguments.positional()[0]));
  return kOk;
}

}  // namespace

const Command& CompletionCommand() {
  static const Command kCommand = {
      .name = "completion",
      .summary = "a completion script for a shell",
      .usage = "bash|zsh|fish",
      .details =
          "For bash: `source <(ekvi completion bash)` in `~/.bashrc`. For zsh: `ekvi completion zsh > _ekvi` in a "
          "folder of "
          "`$fpath`. For fish: `ekvi completion fish > ~/.config/fish/completions/ekvi.fish`.",
      .example = "source <(ekvi completion bash)",
      .words = kShells,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
