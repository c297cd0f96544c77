#include "cli/exit_code.h"

#include <fmt/format.h>

#include <array>
#include <new>

#include "cli/format.h"

namespace ekvi::cli {

std::span<const ExitMeaning> ExitMeanings() {
  static constexpr std::array kMeanings = {
      ExitMeaning{kOk, "done; also where the reader of stdout closed the pipe"},
      ExitMeaning{kInternal, "a bug of ekvi, or the answer could not be written (read-only, disk full)"},
      ExitMeaning{kUsage, "usage: an option, a value, a prompt or token that does not fit the model or its context"},
      ExitMeaning{kFile, "a file is missing, unreadable or corrupt"},
      ExitMeaning{kUnsupported, "well-formed, but not supported here"},
      ExitMeaning{kMemory, "does not fit memory"},
      ExitMeaning{kMismatch, "verify or a comparison found a difference"},
      ExitMeaning{kInterrupted, "SIGINT (Ctrl-C); what was generated has been written"},
      ExitMeaning{kTerminated, "SIGTERM; what was generated has been written"},
  };
  return kMeanings;
}

ExitError WriteFailure(std::string_view path, std::string_view reason) {
  return {kInternal, ErrorCode::kIo, fmt::format("cannot write {}", path), std::string(reason),
          "a path on a file system with room that may be written to"};
}

ExitCode ExitCodeOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
      return kFile;
    case ErrorCode::kUnsupported:
      return kUnsupported;
    case ErrorCode::kCapacity:
      return kMemory;
    case ErrorCode::kCancelled:
      return kInterrupted;
  }
  return kInternal;
}

ExitCode ExitCodeOf(const std::exception& error) {
  if (dynamic_cast<const ClosedPipe*>(&error) != nullptr) return kOk;
  if (const auto* exit = dynamic_cast<const ExitError*>(&error)) return exit->exit();
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return ExitCodeOf(ours->code());
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return kMemory;
  return kInternal;
}

std::string ErrorText(const std::exception& error, std::string_view mark) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) {
    std::string text = fmt::format("{} {}\n", mark, Printable(ours->summary()));
    if (!ours->numbers().empty()) text += fmt::format("  {}\n", Printable(ours->numbers(), Lines::kKeep));
    if (!ours->hint().empty()) text += fmt::format("  try: {}\n", Printable(ours->hint(), Lines::kKeep));
    return text;
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return fmt::format("{} the system gave no more memory\n  try: a smaller --ctx or a smaller model\n", mark);
  }
  return fmt::format("{} internal: {}\n", mark, Printable(error.what()));
}

}  // namespace ekvi::cli
