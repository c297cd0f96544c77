// Where a command speaks: the answer to stdout or the -o file, everything else to stderr.
#pragma once

#include <string>
#include <string_view>

#include "cli/arguments.h"

namespace ekvi::cli {

enum class Paint { kNone, kRed, kGreen, kBold };

class Console {
 public:
  // Colours and no more, for what is said before a command line is understood.
  Console();
  // As the output options of the command say. Throws ExitError where the -o file cannot be written, before any work.
  explicit Console(const Arguments& arguments);

  // Adds to the answer. To stdout it goes at once and unbuffered, to a file at Finish. Throws ExitError (kInternal)
  // where stdout refuses, ClosedPipe where nobody reads it any more.
  void Answer(std::string_view text);
  // The last word: the -o file is in place when it returns, or untouched when it throws.
  void Finish();

  // Lines on stderr: always, since they were asked for; not with -q; only with -v.
  void Tell(std::string_view line);
  void Remark(std::string_view line);
  void Detail(std::string_view line);
  void Report(const std::exception& error);

  bool json() const { return json_; }
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  // The answer goes to a terminal, so that it should end its last line.
  bool answers_terminal() const { return output_path_.empty() && stdout_terminal_; }
  // Text in the colour where stdout shows colours.
  std::string Painted(std::string_view text, Paint paint) const;

 private:
  void SettleQuiet(const Arguments& arguments);

  bool json_ = false, quiet_ = false, verbose_ = false;
  bool stdout_terminal_ = false, stdout_color_ = false, stderr_color_ = false;
  bool line_open_ = false;   // the terminal's line has begun and not ended
  std::string output_path_;  // empty: stdout
  std::string pending_;      // the answer for output_path_
};

// Whether the environment lets a terminal show colours: NO_COLOR (no-color.org) and TERM=dumb do not.
bool EnvironmentAllowsColor(const EnvironmentReader& environment);
// Throws ExitError (kInternal) where the file of --output could not be created or replaced, and Error(kInvalidArgument)
// where it is also a file that the command reads; and its two halves.
void CheckOutput(const Arguments& arguments);
void CheckWritable(const std::string& path);
void RefuseSameFile(const std::string& input, const std::string& output);
// WriteFile, whose errors are then ExitError (kInternal): an answer that could not be written.
void WriteAnswer(const std::string& path, std::string_view bytes);

}  // namespace ekvi::cli
