// Lines that a person types, with editing and a history, or lines of a pipe as they are.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace ekvi::cli {

// What was typed: a line, Ctrl-C, or the end of the input.
struct Typed {
  enum class Kind { kLine, kInterrupt, kEnd };
  Kind kind = Kind::kEnd;
  std::string line = {};  // without its end
  bool empty = true;      // of kInterrupt: nothing stood on the line
};

class LineEditor {
 public:
  // For people where stdin and stdout are a terminal; with editing unless the environment says TERM=dumb.
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  bool interactive() const { return interactive_; }
  // The prompt is shown to people only; so is "^C". Error(kInvalidArgument) for a line over 64 MiB, kIo where stdin
  // fails.
  Typed Next(const std::string& prompt);

 private:
  class Editing;

  Typed NextOfStream();
  std::optional<Typed> Pending();

  bool interactive_;
  std::unique_ptr<Editing> editing_;  // nullptr: none
  std::string pending_;               // read beyond the line
  size_t searched_ = 0;               // of it without a line's end
  bool ended_ = false;
};

}  // namespace ekvi::cli
