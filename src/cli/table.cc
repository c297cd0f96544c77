#include "cli/table.h"

#include <algorithm>

#include "cli/format.h"

namespace ekvi::cli {

std::string Table::Render(const std::string& indent) const {
  std::vector<int> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(static_cast<size_t>(widths[i] - DisplayWidth(row[i])), ' ');
      const bool right = i < alignment_.size() && alignment_[i] == Align::kRight;
      line += (i > 0 ? "  " : "") + (right ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace ekvi::cli
