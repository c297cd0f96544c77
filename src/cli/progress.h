// What takes long, on stderr: a line that is redrawn in place, or plain lines, never before 300 ms.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "cli/arguments.h"

namespace ekvi::cli {

enum class ProgressMode { kBar, kPlain, kNone };

// What --progress asks for; auto is a bar where stderr is a terminal and -q is not given.
ProgressMode ProgressModeOf(const Arguments& arguments);

// "prefill  [#########           ]  45 %  1.2 s", or without the bar where the total is not known.
std::string ProgressLine(const std::string& stage, int64_t done, int64_t total, std::chrono::nanoseconds elapsed);

// A thread draws at 10 Hz while a stage runs. One thread at a time calls it.
class Progress {
 public:
  explicit Progress(ProgressMode mode) : mode_(mode) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Ends the stage before it. `total` 0: not known.
  void Stage(std::string name, int64_t total = 0);
  void Advance(int64_t done);
  // Another name for the stage at work: its time goes on.
  void Rename(std::string name);
  // Ends the stage and takes its line off the screen: called before anything else is written.
  void Clear();

 private:
  void Draw();
  void Show(std::chrono::steady_clock::time_point begin);

  ProgressMode mode_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool running_ = false;
  std::string stage_;
  int64_t done_ = 0, total_ = 0;
  std::thread drawer_;
};

// For signal handlers: takes a drawn line off the screen. Also from another thread than the drawer's.
void EraseProgressLine() noexcept;

}  // namespace ekvi::cli
