// While a line is edited, Ctrl-C is a key like any other: the terminal sends no signal for it then. Everywhere else it
// is a signal, which interrupts.h notes.
#include "cli/line_editor.h"

#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/interrupts.h"
#include "ekvi/error.h"

namespace ekvi::cli {
namespace {

// A line is a message: what is longer is refused, never cut (no context is that long).
constexpr size_t kLongestLine = size_t{64} << 20;
constexpr int kHistoryLines = 1000;
constexpr int kLookPeriodMs = 100;  // soon enough for a person

bool IsDumb() {
  const char* term = std::getenv("TERM");
  return term == nullptr || *term == '\0' || std::strcmp(term, "dumb") == 0;
}

void Show(std::string_view text) { static_cast<void>(!::write(STDOUT_FILENO, text.data(), text.size())); }

// Bytes of stdin, 0 at its end, -1 (errno) where it fails; or Ctrl-C.
struct Input {
  ssize_t bytes = 0;
  bool interrupted = false;
};

// Where a person types, a signal ends it: it is seen at the next look if it came just before poll or to another thread.
Input ReadInput(char* bytes, size_t count) {
  while (true) {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    const bool stays = StaysOnInterrupt();
    const int found = ::poll(&ready, 1, stays ? kLookPeriodMs : -1);
    if (stays && InterruptSignal() != 0) return {.interrupted = true};
    if (found == 0 || (found < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(STDIN_FILENO, bytes, count);
    if (got >= 0 || errno != EINTR) return {.bytes = got};
  }
}

}  // namespace

class LineEditor::Editing {
 public:
  Editing() : editor_(::el_init("ekvi", stdin, stdout, stderr)), history_(::history_init()) {
    HistEvent event;
    ::history(history_, &event, H_SETSIZE, kHistoryLines);
    ::history(history_, &event, H_SETUNIQUE, 1);
    ::el_set(editor_, EL_CLIENTDATA, this);
    ::el_set(editor_, EL_PROMPT, &Prompt);
    ::el_set(editor_, EL_EDITOR, "emacs");
    ::el_set(editor_, EL_HIST, ::history, history_);
    ::el_set(editor_, EL_GETCFN, &NextCharacter);
    ::el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  }
  ~Editing() {
    ::el_end(editor_);
    ::history_end(history_);
  }
  Editing(const Editing&) = delete;
  Editing& operator=(const Editing&) = delete;

  Typed Next(const std::string& prompt) {
    prompt_ = prompt;
    interrupted_ = false;
    ::el_resize(editor_);                // the window may have another size by now
    ::el_set(editor_, EL_PREP_TERM, 1);  // before the prompt: who sees it may type
    int count = 0;
    const char* line = ::el_gets(editor_, &count);
    if (interrupted_) return {.kind = Typed::Kind::kInterrupt, .empty = empty_};
    if (line == nullptr || count <= 0) return {};
    Typed typed{.kind = Typed::Kind::kLine, .line = std::string(line, static_cast<size_t>(count))};
    HistEvent event;
    if (typed.line.find_first_not_of(" \n") != std::string::npos) ::history(history_, &event, H_ENTER, line);
    if (typed.line.ends_with('\n')) typed.line.pop_back();
    return typed;
  }

 private:
  static Editing& Of(EditLine* editor) {
    void* data = nullptr;
    ::el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Editing*>(data);
  }
  static char* Prompt(EditLine* editor) { return Of(editor).prompt_.data(); }
  // 1, or 0 at the end of the input and at Ctrl-C. What is no character of the locale is left out.
  static int NextCharacter(EditLine* editor, wchar_t* character) {
    std::mbstate_t state{};
    while (true) {
      char byte = 0;
      const Input input = ReadInput(&byte, 1);
      if (input.interrupted) {
        const LineInfo* line = ::el_line(editor);
        Of(editor).empty_ = line->buffer == line->lastchar;
        Of(editor).interrupted_ = true;
      }
      if (input.bytes <= 0) return 0;
      const size_t used = std::mbrtowc(character, &byte, 1, &state);
      if (used == static_cast<size_t>(-1)) state = {};
      if (used <= 1) return 1;
    }
  }

  EditLine* editor_;
  History* history_;
  std::string prompt_;
  bool interrupted_ = false, empty_ = true;
};

LineEditor::LineEditor() : interactive_(::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) {
  if (!interactive_ || IsDumb()) return;
  // Without a locale of UTF-8 the editor drops every character that is not ASCII.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  editing_ = std::make_unique<Editing>();
}
LineEditor::~LineEditor() = default;

Typed LineEditor::Next(const std::string& prompt) {
  if (interactive_ && editing_ == nullptr) Show(prompt);
  Typed typed = editing_ != nullptr ? editing_->Next(prompt) : NextOfStream();
  if (interactive_ && typed.kind == Typed::Kind::kInterrupt) Show("^C\n");
  if (interactive_ && typed.kind == Typed::Kind::kEnd) Show("\n");
  return typed;
}

std::optional<Typed> LineEditor::Pending() {
  const size_t end = pending_.find('\n', searched_);
  searched_ = pending_.size();
  if (end == std::string::npos && !ended_) return std::nullopt;
  if (end == std::string::npos && pending_.empty()) return Typed{};
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end == std::string::npos ? end : end + 1);
  searched_ = 0;
  if (line.ends_with('\r')) line.pop_back();
  return Typed{.kind = Typed::Kind::kLine, .line = std::move(line)};
}

Typed LineEditor::NextOfStream() {
  while (true) {
    if (auto typed = Pending()) return *std::move(typed);
    std::array<char, 65536> part;
    const Input input = ReadInput(part.data(), part.size());
    if (input.interrupted) return {.kind = Typed::Kind::kInterrupt, .empty = pending_.empty()};
    if (input.bytes < 0) {
      throw Error(ErrorCode::kIo, "cannot read stdin", std::generic_category().message(errno),
                  "messages from a pipe, a file or a terminal");
    }
    ended_ = input.bytes == 0;
    pending_.append(part.data(), static_cast<size_t>(input.bytes));
    if (pending_.size() > kLongestLine) {
      throw Error(ErrorCode::kInvalidArgument, "a line of stdin is too long for one message", "more than 64 MiB",
                  "a line feed between messages");
    }
  }
}

}  // namespace ekvi::cli
