#include "cli/console.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/exit_code.h"
#include "cli/options.h"
#include "ekvi/write_file.h"

namespace ekvi::cli {
namespace {

std::string Reason(int error) { return std::generic_category().message(error); }

// Zero, or the errno of the failure.
int WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

std::string_view Escape(Paint paint) {
  switch (paint) {
    case Paint::kNone:
      break;
    case Paint::kRed:
      return "\x1b[1;31m";
    case Paint::kGreen:
      return "\x1b[32m";
    case Paint::kBold:
      return "\x1b[1m";
  }
  return "";
}

std::string Colored(std::string_view text, Paint paint, bool color) {
  if (!color || paint == Paint::kNone) return std::string(text);
  return fmt::format("{}{}\x1b[0m", Escape(paint), text);
}

// Where stderr itself is gone there is nobody to tell.
void Say(std::string_view text) { static_cast<void>(WriteAll(STDERR_FILENO, text)); }

}  // namespace

bool EnvironmentAllowsColor(const EnvironmentReader& environment) {
  const char* no_color = environment("NO_COLOR");
  const char* terminal = environment("TERM");
  return (no_color == nullptr || *no_color == '\0') && !(terminal != nullptr && std::string_view(terminal) == "dumb");
}

void CheckWritable(const std::string& path) {
  if (path.empty()) throw WriteFailure("''", Reason(ENOENT));
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw WriteFailure(path, Reason(EISDIR));
    if (::access(path.c_str(), W_OK) != 0) throw WriteFailure(path, Reason(errno));
    if (!S_ISREG(status.st_mode)) return;
    // The superuser may write what nobody should: a file without any write permission is meant to stay.
    if ((status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0) throw WriteFailure(path, Reason(EACCES));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) throw WriteFailure(path, Reason(errno));
}

// What is read is not written over. An argument may be a text, which is then no file.
void RefuseSameFile(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(output, ignored)) return;
  if (!std::filesystem::equivalent(input, output, ignored)) return;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} would be written over by the output", input),
              "it is also what is read", "another name for the output");
}

void CheckOutput(const Arguments& arguments) {
  const std::string output = arguments.Text("output");
  CheckWritable(output);
  for (const OptionGroup& group : arguments.command().groups) {
    for (const Option& option : group.options) {
      const bool is_input = option.kind == ValueKind::kPath && option.name != "output" && arguments.Given(option.name);
      if (is_input) RefuseSameFile(arguments.Text(option.name), output);
    }
  }
  for (const std::string& argument : arguments.positional()) RefuseSameFile(argument, output);
}

void WriteAnswer(const std::string& path, std::string_view bytes) {
  try {
    WriteFile(path, bytes);
  } catch (const Error& error) {
    throw ExitError(kInternal, error.code(), error.summary(), error.numbers(), error.hint());
  }
}

Console::Console() {
  const bool allowed = EnvironmentAllowsColor([](const char* name) { return std::getenv(name); });
  stdout_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  stdout_color_ = allowed && stdout_terminal_;
  stderr_color_ = allowed && ::isatty(STDERR_FILENO) == 1;
}

Console::Console(const Arguments& arguments) : Console() {
  const auto has = [&](std::string_view name) {
    return arguments.command().Find(name) != nullptr && arguments.Given(name);
  };
  json_ = has("json");
  quiet_ = has("quiet");
  verbose_ = has("verbose");
  if (quiet_ && verbose_) SettleQuiet(arguments);
  // A command may have an -o of its own, which is not for the answer.
  const bool redirects = arguments.command().Find("output") == &OutputGroup().options.front();
  if (redirects && has("output") && arguments.Text("output") != "-") {
    output_path_ = arguments.Text("output");
    CheckOutput(arguments);
    stdout_color_ = false;
  }
  const std::string color = has("color") ? arguments.Text("color") : "auto";
  if (color != "auto") stdout_color_ = stderr_color_ = color == "always";
}

// The flag goes before the environment; two of the same kind cannot both hold.
void Console::SettleQuiet(const Arguments& arguments) {
  if (arguments.source("quiet") == arguments.source("verbose")) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} and {} contradict each other", arguments.Origin("quiet"), arguments.Origin("verbose")),
                "", "leave one of them out");
  }
  quiet_ = arguments.source("quiet") == Source::kFlag;
  verbose_ = !quiet_;
}

void Console::Answer(std::string_view text) {
  if (!output_path_.empty()) {
    pending_ += text;
    return;
  }
  if (!text.empty()) line_open_ = stdout_terminal_ && text.back() != '\n';
  const int error = WriteAll(STDOUT_FILENO, text);
  if (error == EPIPE) throw ClosedPipe();
  if (error != 0) {
    throw ExitError(kInternal, ErrorCode::kIo, "cannot write stdout", Reason(error),
                    "a terminal, a pipe, or a file on a disk with room");
  }
}

void Console::Finish() {
  if (output_path_.empty()) return;
  WriteAnswer(output_path_, pending_);
}

void Console::Tell(std::string_view line) { Say(fmt::format("{}\n", line)); }

void Console::Remark(std::string_view line) {
  if (!quiet_) Say(fmt::format("{}\n", line));
}

void Console::Detail(std::string_view line) {
  if (verbose_) Say(fmt::format("{}\n", line));
}

void Console::Report(const std::exception& error) {
  if (dynamic_cast<const ClosedPipe*>(&error) != nullptr) return;
  if (line_open_) Say("\n");
  Say(ErrorText(error, Colored("error:", Paint::kRed, stderr_color_)));
}

std::string Console::Painted(std::string_view text, Paint paint) const { return Colored(text, paint, stdout_color_); }

}  // namespace ekvi::cli
