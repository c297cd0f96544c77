// Exit codes, and what each error becomes. One table for the program, its tests and docs/commands.md.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <string_view>

#include "ekvi/error.h"

namespace ekvi::cli {

enum ExitCode : int {
  kOk = 0,
  kInternal = 1,  // a bug, or an answer that could not be written
  kUsage = 2,
  kFile = 3,
  kUnsupported = 4,
  kMemory = 5,
  kMismatch = 6,
  kInterrupted = 130,  // 128 + SIGINT
  kTerminated = 143,   // 128 + SIGTERM
};

struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
std::span<const ExitMeaning> ExitMeanings();

// An error whose exit code is not that of its ErrorCode.
class ExitError : public Error {
 public:
  ExitError(ExitCode exit, ErrorCode code, std::string what, std::string numbers = "", std::string hint = "")
      : Error(code, std::move(what), std::move(numbers), std::move(hint)), exit_(exit) {}
  ExitCode exit() const { return exit_; }

 private:
  ExitCode exit_;
};

// The answer could not be written: kInternal, since nothing that the user named was wrong when the work began.
ExitError WriteFailure(std::string_view path, std::string_view reason);

// Whoever read the answer has closed the pipe: no error, but no reason to go on.
class ClosedPipe : public std::exception {
 public:
  const char* what() const noexcept override { return "the reader of the answer has closed the pipe"; }
};

ExitCode ExitCodeOf(ErrorCode code);
// Also of std::bad_alloc, and of anything else.
ExitCode ExitCodeOf(const std::exception& error);

// "error: summary\n  numbers\n  try: hint\n" without control characters; `mark` is how "error:" is written.
std::string ErrorText(const std::exception& error, std::string_view mark = "error:");

}  // namespace ekvi::cli
