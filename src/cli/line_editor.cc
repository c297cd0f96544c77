#include "cli/line_editor.h"

#include <editline/readline.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

// A line is a message: what is longer is refused, never cut (no context is that long).
constexpr size_t kLongestLine = size_t{64} << 20;

bool IsDumb() {
  const char* term = std::getenv("TERM");
  return term != nullptr && std::strcmp(term, "dumb") == 0;
}

}  // namespace

LineEditor::LineEditor() : interactive_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !IsDumb()) {
  if (!interactive_) return;
  // Without a locale of UTF-8 the editor drops every character that is not ASCII.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  ::using_history();
}
LineEditor::~LineEditor() = default;

std::optional<std::string> LineEditor::Next(const std::string& prompt) {
  if (!interactive_) return NextOfPipe();
  char* line = ::readline(prompt.c_str());
  if (line == nullptr) return std::nullopt;
  std::string text = line;
  std::free(line);
  if (!text.empty()) ::add_history(text.c_str());
  return text;
}

std::optional<std::string> LineEditor::NextOfPipe() {
  size_t searched = 0;
  while (true) {
    const size_t end = pending_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    if (ended_) {
      if (pending_.empty()) return std::nullopt;
      return std::exchange(pending_, {});
    }
    searched = pending_.size();
    std::array<char, 65536> part;
    const ssize_t got = ::read(STDIN_FILENO, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorCode::kIo, "cannot read stdin", std::generic_category().message(errno));
    ended_ = got == 0;
    pending_.append(part.data(), static_cast<size_t>(got));
    if (pending_.size() > kLongestLine) throw Error(ErrorCode::kInvalidArgument, "a line of stdin is over 64 MiB");
  }
}

}  // namespace ekvi::cli
