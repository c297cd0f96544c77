// A row may be overwritten once nobody needs its old content: such rows are copied into first, and each copy may free
// its source in turn. What remains are cycles in which every row is read by exactly one other; k - 1 swaps turn a cycle
// of k.
#include "cache/row_moves.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace ekvi::cache {

RowMoves::RowMoves(int rows) : readers_(static_cast<size_t>(rows)), done_(static_cast<size_t>(rows)) {
  ready_.reserve(readers_.size());
  moves_.reserve(readers_.size());
}

std::span<const RowMove> RowMoves::Plan(std::span<const int> source) {
  EKVI_CHECK_OP(==, source.size(), readers_.size());
  moves_.clear();
  std::ranges::fill(readers_, 0);
  for (size_t row = 0; row < source.size(); ++row) {
    done_[row] = source[row] == static_cast<int>(row);
    if (!done_[row]) ++readers_[static_cast<size_t>(source[row])];
  }
  CopyOutward(source);
  for (size_t row = 0; row < source.size(); ++row) {
    if (!done_[row]) SwapAround(source, static_cast<int>(row));
  }
  return moves_;
}

void RowMoves::CopyOutward(std::span<const int> source) {
  ready_.clear();
  for (size_t row = 0; row < source.size(); ++row) {
    if (!done_[row] && readers_[row] == 0) ready_.push_back(static_cast<int>(row));
  }
  while (!ready_.empty()) {
    const int to = ready_.back();
    const int from = source[static_cast<size_t>(to)];
    ready_.pop_back();
    moves_.push_back({RowMove::Kind::kCopy, from, to});
    done_[static_cast<size_t>(to)] = 1;
    const bool unread = --readers_[static_cast<size_t>(from)] == 0;
    if (unread && !done_[static_cast<size_t>(from)]) ready_.push_back(from);
  }
}

void RowMoves::SwapAround(std::span<const int> source, int first) {
  int to = first;
  for (int from = source[static_cast<size_t>(to)]; from != first; from = source[static_cast<size_t>(to)]) {
    moves_.push_back({RowMove::Kind::kSwap, from, to});
    done_[static_cast<size_t>(to)] = 1;
    to = from;
  }
  done_[static_cast<size_t>(to)] = 1;
}

}  // namespace ekvi::cache
