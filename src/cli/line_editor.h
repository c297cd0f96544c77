// Lines that a person types, with editing and a history, or lines of a pipe as they are.
#pragma once

#include <optional>
#include <string>

namespace ekvi::cli {

class LineEditor {
 public:
  // Editing where stdin and stdout are a terminal, unless the environment says TERM=dumb.
  LineEditor();
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  bool interactive() const { return interactive_; }
  // The next line without its end; nothing at the end of the input. The prompt is shown to people only.
  std::optional<std::string> Next(const std::string& prompt);

 private:
  std::optional<std::string> NextOfPipe();

  bool interactive_;
  std::string pending_;  // read from the pipe beyond the line
  bool ended_ = false;
};

}  // namespace ekvi::cli
