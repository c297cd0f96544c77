// What the library throws when the world is not as asked: a file, an argument, memory, a request.
//
// A broken invariant of ekvi itself aborts instead (EKVI_CHECK). A normal outcome (end of text, a prefix that is not
// cached) is a return value. Whatever threw has changed nothing.
#pragma once

#include <exception>
#include <string>

namespace ekvi {

enum class ErrorCode {
  kInvalidArgument,  // the caller's values do not fit together
  kNotFound,         // a file or a name that is not there
  kCapacity,         // past a limit: context, cache, memory
  kCorrupt,          // a file that breaks its format
  kUnsupported,      // well-formed, but nothing here computes it
  kIo,               // the operating system refused
  kCancelled,        // the caller asked to stop
};

// An error in three parts: what went wrong, the numbers, what to try. The first part is one line and never empty. All
// are valid UTF-8: control characters and bytes that are no character are written as \xNN.
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string what, std::string numbers = "", std::string hint = "");

  ErrorCode code() const noexcept { return code_; }
  const std::string& summary() const noexcept { return summary_; }
  const std::string& numbers() const noexcept { return numbers_; }
  const std::string& hint() const noexcept { return hint_; }
  // All three parts, a line each: "summary\n  numbers\n  try: hint".
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  ErrorCode code_;
  std::string summary_, numbers_, hint_, text_;
};

}  // namespace ekvi
