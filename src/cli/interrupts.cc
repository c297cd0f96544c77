// A handler may run on any thread, also while the main thread takes the session away. So the handler announces itself
// in `handlers_running` before it reads the pointer, and ~CancelOnInterrupt waits, after it has cleared the pointer,
// until no handler is left that could still hold it. A handler on the main thread itself is done before that wait
// begins.
#include "cli/interrupts.h"

#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "cli/progress.h"

namespace ekvi::cli {
namespace {

std::atomic<Session*> session_at_work{nullptr};
std::atomic<int> handlers_running{0};
std::atomic<int> signal_seen{0};
std::atomic<bool> staying{false};
termios terminal_before{};  // written while staying is false

void OnSignal(int signal) {
  const int saved_errno = errno;
  handlers_running.fetch_add(1);
  Session* session = session_at_work.load();
  if (signal == SIGINT && staying.load()) {
    int none = 0;  // a SIGTERM that came before keeps its place
    signal_seen.compare_exchange_strong(none, signal);
  } else if (signal_seen.exchange(signal) != 0 || session == nullptr) {
    EraseProgressLine();
    if (staying.load()) ::tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
    ::_exit(128 + signal);
  }
  if (session != nullptr) session->Cancel();
  handlers_running.fetch_sub(1);
  errno = saved_errno;
}

void Install(int signal, void (*handler)(int)) {
  struct sigaction before {};
  if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void InstallInterrupts() {
  Install(SIGINT, OnSignal);
  Install(SIGTERM, OnSignal);
  Install(SIGPIPE, SIG_IGN);
  Install(SIGXFSZ, SIG_IGN);
}

int InterruptSignal() noexcept { return signal_seen.load(); }
bool StaysOnInterrupt() noexcept { return staying.load(); }
void ForgetInterrupt() noexcept { signal_seen.store(0); }

StayOnInterrupt::StayOnInterrupt() { staying.store(::tcgetattr(STDIN_FILENO, &terminal_before) == 0); }
StayOnInterrupt::~StayOnInterrupt() { staying.store(false); }

CancelOnInterrupt::CancelOnInterrupt(Session& session) { session_at_work.store(&session); }

CancelOnInterrupt::~CancelOnInterrupt() {
  session_at_work.store(nullptr);
  while (handlers_running.load() != 0) {
  }
}

}  // namespace ekvi::cli
