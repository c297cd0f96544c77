#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "cli/format.h"

namespace ekvi::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kSilence{300};  // what is over by then is not worth a line
constexpr milliseconds kPeriod{100};
constexpr milliseconds kPlainPeriod{5000};  // lines that stay: one in a while

std::atomic<bool> line_drawn{false};

void Write(std::string_view text) { static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size())); }

size_t TerminalColumns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Never wider than the terminal: a wrapped line could not be erased.
std::string Fitted(const std::string& line) {
  const size_t columns = TerminalColumns() - 1;
  if (static_cast<size_t>(DisplayWidth(line)) <= columns) return line;
  size_t end = 0;
  for (size_t shown = 0; end < line.size() && shown < columns; ++shown) {
    do {
      ++end;
    } while (end < line.size() && ContinuesCharacter(line[end]));
  }
  return line.substr(0, end);
}

}  // namespace

ProgressMode ProgressModeOf(const Arguments& arguments) {
  const std::string kind = arguments.Text("progress");
  if (kind == "bar") return ProgressMode::kBar;
  if (kind == "plain") return ProgressMode::kPlain;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
  const bool wanted = kind == "auto" && !arguments.Flag("quiet") && !dumb && ::isatty(STDERR_FILENO) == 1;
  return wanted ? ProgressMode::kBar : ProgressMode::kNone;
}

std::string ProgressLine(const std::string& stage, int64_t done, int64_t total, std::chrono::nanoseconds elapsed) {
  static constexpr int64_t kCells = 20;
  const std::string time = Duration(elapsed.count());
  if (total <= 0) return fmt::format("{}  {}", stage, time);
  const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0);
  const auto full = static_cast<size_t>(share * kCells);
  return fmt::format("{}  [{:<{}}] {:3.0f} %  {}", stage, std::string(full, '#'), kCells, 100 * share, time);
}

void EraseProgressLine() noexcept {
  if (line_drawn.exchange(false)) Write("\r\x1b[K");
}

void Progress::Stage(std::string name, int64_t total) {
  Clear();
  if (mode_ == ProgressMode::kNone) return;
  stage_ = std::move(name);
  done_ = 0;
  total_ = total;
  running_ = true;
  drawer_ = std::thread([this] { Draw(); });
}

void Progress::Advance(int64_t done) {
  if (mode_ == ProgressMode::kNone) return;
  const std::lock_guard lock(mutex_);
  done_ = done;
}

void Progress::Rename(std::string name) {
  if (mode_ == ProgressMode::kNone) return;
  const std::lock_guard lock(mutex_);
  stage_ = std::move(name);
}

void Progress::Clear() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  ended_.notify_all();
  drawer_.join();
  EraseProgressLine();
}

void Progress::Draw() {
  const Clock::time_point begin = Clock::now();
  std::unique_lock lock(mutex_);
  Clock::time_point next = begin + kSilence;
  while (!ended_.wait_until(lock, next, [this] { return !running_; })) {
    Show(begin);
    next += mode_ == ProgressMode::kBar ? kPeriod : kPlainPeriod;
  }
}

void Progress::Show(Clock::time_point begin) {
  const std::string line = ProgressLine(stage_, done_, total_, Clock::now() - begin);
  if (mode_ == ProgressMode::kPlain) {
    Write(line + "\n");
    return;
  }
  line_drawn.store(true);
  Write("\r" + Fitted(line) + "\x1b[K");
}

}  // namespace ekvi::cli
