#include "cli/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/help.h"
#include "cli/interrupts.h"
#include "cli/report.h"
#include "cli/suggest.h"

namespace ekvi::cli {
namespace {

using Words = std::vector<std::string>;

// A file opened later must not become stdout or stderr because the caller had closed that. What is put in its place
// refuses every write, so that a lost answer is an error.
void FillStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

bool AsksForHelp(const Words& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "-h" || word == "--help"; });
}

const char* ReadEnvironment(const char* name) { return std::getenv(name); }

// What ekvi reads, and what its tests and ./dev do.
std::vector<std::string> KnownVariables() {
  std::vector<std::string> names{"EKVI_SHARED", "EKVI_MODELS"};
  for (const Command* command : AllCommands()) {
    for (const OptionGroup& group : command->groups) {
      for (const Option& option : group.options) {
        if (option.environment == Environment::kRead) names.push_back(EnvironmentName(option));
      }
    }
  }
  return names;
}

// A misspelt variable would else be ignored without a word.
void WarnOfUnknownVariables(Console& console) {
  const std::vector<std::string> known = KnownVariables();
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with("EKVI_") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto meant = Closest(name, known);
    console.Remark(fmt::format("warning: the environment variable {} means nothing here{}", Printable(name),
                               meant ? fmt::format("; did you mean {}?", *meant) : ""));
  }
}

int RunCommand(const Command& command, const Words& words, std::unique_ptr<Console>& console) {
  if (AsksForHelp(words)) {
    console->Answer(CommandHelp(command));
    return kOk;
  }
  const Arguments arguments = Arguments::Parse(command, words, ReadEnvironment);
  console = std::make_unique<Console>(arguments);  // where this throws, the plain one reports it
  WarnOfUnknownVariables(*console);
  return command.run(arguments, *console);
}

int RunWords(const Words& words, std::unique_ptr<Console>& console) {
  if (words.empty() || words[0] == "-h" || words[0] == "--help") {
    console->Answer(ProgramHelp());
    return kOk;
  }
  if (words[0] == "--version") {
    console->Answer(fmt::format("ekvi {} ({})\n", Version(), Build()));
    return kOk;
  }
  if (words[0].starts_with('-')) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} comes before a command", Quoted(words[0])), "",
                "ekvi COMMAND and then its options; ekvi help lists the commands");
  }
  return RunCommand(FindCommand(words[0]), {words.begin() + 1, words.end()}, console);
}

}  // namespace

int Main(int argc, const char* const* argv) {
  FillStandardDescriptors();
  InstallInterrupts();
  auto console = std::make_unique<Console>();
  try {
    return RunWords(Words(argv + std::min(argc, 1), argv + argc), console);
  } catch (const std::exception& error) {
    console->Report(error);
    const int signal = InterruptSignal();
    return signal != 0 && ExitCodeOf(error) == kInterrupted ? 128 + signal : ExitCodeOf(error);
  } catch (...) {
    console->Report(std::runtime_error("an exception of an unknown type"));
    return kInternal;
  }
}

}  // namespace ekvi::cli
