// A busy neighbour: a process that keeps one processor busy, as other work on the machine would.
#pragma once

#include <sys/types.h>

namespace ekvi::bench {

// A forked child that spins on the last processor that this process may use. It begins paused. Make it before what is
// measured: memory that a fork shares is copied when it is written to. It dies with the thread that made it, however
// that ends.
class Neighbour {
 public:
  // Error(kIo) where the system refuses the process or the processor.
  Neighbour();
  ~Neighbour();
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  // Both return when it has happened, at once where it is so already.
  void Resume();
  void Pause();

  int processor() const { return processor_; }
  pid_t pid() const { return pid_; }

 private:
  int processor_ = 0;
  pid_t pid_ = -1;
  bool paused_ = true;
};

}  // namespace ekvi::bench
