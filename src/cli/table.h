// Columns of text.
#pragma once

#include <string>
#include <vector>

namespace ekvi::cli {

enum class Align { kLeft, kRight };

// Two blanks between columns, no blanks at the end of a line. Columns past the last alignment are left-aligned.
class Table {
 public:
  explicit Table(std::vector<Align> alignment = {}) : alignment_(std::move(alignment)) {}

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // A line for each row, each after `indent`.
  std::string Render(const std::string& indent = "") const;

 private:
  std::vector<Align> alignment_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ekvi::cli
