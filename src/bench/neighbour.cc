#include "bench/neighbour.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "ekvi/error.h"

namespace ekvi::bench {
namespace {

Error Refused(std::string_view what, int code) {
  return Error(ErrorCode::kIo, fmt::format("cannot start a busy neighbour: {}", what),
               std::system_category().message(code), "a machine that lets this process start another");
}

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

// The processors that this process may use, in a mask that is large enough for the machine.
struct Processors {
  std::unique_ptr<cpu_set_t, FreeSet> set;
  size_t bytes = 0;
  int last = -1;
};

Processors Allowed() {
  constexpr int kMost = 1 << 20;
  for (int count = 1024; count <= kMost; count *= 2) {
    Processors processors{std::unique_ptr<cpu_set_t, FreeSet>(CPU_ALLOC(static_cast<size_t>(count))),
                          CPU_ALLOC_SIZE(count)};
    if (processors.set == nullptr || ::sched_getaffinity(0, processors.bytes, processors.set.get()) != 0) continue;
    for (int i = 0; i < count; ++i) {
      if (CPU_ISSET_S(static_cast<size_t>(i), processors.bytes, processors.set.get())) processors.last = i;
    }
    return processors;
  }
  throw Refused("sched_getaffinity", EINVAL);
}

// Between fork and exec a process of threads may call what signal handlers may, and this never calls exec.
[[noreturn]] void Spin(pid_t parent, const cpu_set_t* only, size_t bytes) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(signal, SIG_DFL);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
  if (::sched_setaffinity(0, bytes, only) != 0) ::_exit(1);
  ::raise(SIGSTOP);
  for (volatile unsigned busy = 0;;) busy = busy + 1;
}

// Waits for a change of the child; false where it is not there any more.
bool Await(pid_t pid, int options) {
  int status = 0;
  while (::waitpid(pid, &status, options) < 0) {
    if (errno != EINTR) return false;
  }
  return !WIFEXITED(status) && !WIFSIGNALED(status);
}

}  // namespace

Neighbour::Neighbour() {
  const Processors processors = Allowed();
  processor_ = processors.last;
  CPU_ZERO_S(processors.bytes, processors.set.get());
  CPU_SET_S(static_cast<size_t>(processor_), processors.bytes, processors.set.get());
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw Refused("fork", errno);
  if (pid_ == 0) Spin(parent, processors.set.get(), processors.bytes);
  if (!Await(pid_, WUNTRACED)) throw Refused(fmt::format("it may not run on processor {}", processor_), EPERM);
}

Neighbour::~Neighbour() {
  ::kill(pid_, SIGKILL);
  Await(pid_, 0);
}

void Neighbour::Resume() {
  if (!std::exchange(paused_, false)) return;
  ::kill(pid_, SIGCONT);
  Await(pid_, WCONTINUED);
}

void Neighbour::Pause() {
  if (std::exchange(paused_, true)) return;
  ::kill(pid_, SIGSTOP);
  Await(pid_, WUNTRACED);
}

}  // namespace ekvi::bench
