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

int RunCommand(const Command& command, const Words& words, std::unique_ptr<Console>& console) {
  if (AsksForHelp(words)) {
    console->Answer(CommandHelp(command));
    return kOk;
  }
  const Arguments arguments = Arguments::Parse(command, words, ReadEnvironment);
  console = std::make_unique<Console>(arguments);  // where this throws, the plain one reports it
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
