// "Row i becomes what row source[i] was, all at once" as a sequence of copies and swaps of two rows, without a spare
// row.
#pragma once

#include <span>
#include <vector>

namespace ekvi::cache {

struct RowMove {
  enum class Kind { kCopy, kSwap } kind;
  int from;
  int to;  // receives `from`'s content; when swapped, `from` receives `to`'s
};

// Scratch for plans over a fixed number of rows; planning allocates nothing. Cost: O(rows), at most one move a row.
class RowMoves {
 public:
  explicit RowMoves(int rows);

  // Every source is a row (checked by the caller). The result is valid until the next call.
  std::span<const RowMove> Plan(std::span<const int> source);

 private:
  void CopyOutward(std::span<const int> source);
  void SwapAround(std::span<const int> source, int first);

  std::vector<int> readers_;  // rows that still need this row's old content
  std::vector<char> done_;
  std::vector<int> ready_;  // rows nobody reads any more, to be overwritten
  std::vector<RowMove> moves_;
};

}  // namespace ekvi::cache
