// Ctrl-C, SIGTERM, closed pipes and limits on file sizes.
//
// The first SIGINT or SIGTERM cancels the session at work, which ends after its current step; with no session at work,
// or at the second one, the process ends at once with 128 + the signal, the progress line erased. SIGPIPE and SIGXFSZ
// are ignored: a closed pipe and a file past its limit are errors of write. A signal that was ignored when the program
// started (nohup) stays ignored. Where a person types (StayOnInterrupt), SIGINT never ends the process, and a signal
// that does gives the terminal back as it was.
#pragma once

#include "ekvi/session.h"

namespace ekvi::cli {

// Once, before threads start. The handlers' state is the only global state of the program.
void InstallInterrupts();

// The signal that asked to stop; 0 while none has.
int InterruptSignal() noexcept;
// Whether a StayOnInterrupt lives.
bool StaysOnInterrupt() noexcept;
// The signal has had its effect: the next one is a first one again.
void ForgetInterrupt() noexcept;

// While it lives, SIGINT cancels the session at work, or else is only noted (InterruptSignal), however often it comes.
// The terminal of stdin is as it is now again when another signal ends the process. One at a time.
class StayOnInterrupt {
 public:
  StayOnInterrupt();
  ~StayOnInterrupt();
  StayOnInterrupt(const StayOnInterrupt&) = delete;
  StayOnInterrupt& operator=(const StayOnInterrupt&) = delete;
};

// While it lives, the first signal cancels `session` instead of ending the process. One at a time.
class CancelOnInterrupt {
 public:
  explicit CancelOnInterrupt(Session& session);
  ~CancelOnInterrupt();
  CancelOnInterrupt(const CancelOnInterrupt&) = delete;
  CancelOnInterrupt& operator=(const CancelOnInterrupt&) = delete;
};

}  // namespace ekvi::cli
