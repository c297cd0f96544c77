// A linked list of symbols and a heap of candidate pairs. A join makes at most two new candidates and takes one symbol
// out of the list; candidates that a join has made void stay in the heap and are recognised when they come up. So n
// characters cost at most 3n heap entries, in any text.
#include "text/model/spm_merger.h"

#include <algorithm>

#include "base/utf8.h"

namespace ekvi::text {

PieceTable SpmTexts(const Vocabulary& vocabulary) {
  PieceTable texts(vocabulary.pieces(), Spelling::kPlain, static_cast<size_t>(vocabulary.size()));
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const PieceKind kind = vocabulary.Kind(id);
    if (kind == PieceKind::kNormal || kind == PieceKind::kUserDefined) texts.Add(id);
  }
  return texts;
}

void SpmMerger::Cut(std::string_view text) {
  symbols_.clear();
  for (size_t at = 0; at < text.size();) {
    const base::Utf8Head head = base::ReadUtf8Head(text.substr(at));
    // What is no character falls into single bytes, as its fallback tokens do.
    const size_t bytes = head.kind == base::Utf8Kind::kCharacter ? head.bytes : 1;
    const auto index = static_cast<int32_t>(symbols_.size());
    symbols_.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(bytes), index - 1, index + 1, -1});
    at += bytes;
  }
  if (!symbols_.empty()) symbols_.back().next = -1;
}

int32_t SpmMerger::Find(std::string_view text) {
  if (text.size() > texts_.bytes_max()) return -1;
  ++operations_;
  return texts_.Find(text).value_or(-1);
}

void SpmMerger::Propose(std::string_view text, int32_t left) {
  if (left < 0 || symbols_[left].next < 0) return;
  const uint32_t bytes = symbols_[left].bytes + symbols_[symbols_[left].next].bytes;
  const int32_t token = Find(text.substr(symbols_[left].begin, bytes));
  if (token < 0) return;
  ++operations_;
  queue_.push_back({vocabulary_.Score(token), left, bytes, token});
  std::push_heap(queue_.begin(), queue_.end());
}

const std::vector<SpmMerger::Symbol>& SpmMerger::Merge(std::string_view text) {
  Cut(text);
  queue_.clear();
  for (size_t i = 0; i + 1 < symbols_.size(); ++i) Propose(text, static_cast<int32_t>(i));
  while (!queue_.empty()) {
    ++operations_;
    std::pop_heap(queue_.begin(), queue_.end());
    const Candidate best = queue_.back();
    queue_.pop_back();
    Symbol& left = symbols_[best.left];
    if (left.bytes == 0 || left.next < 0) continue;
    Symbol& right = symbols_[left.next];
    if (left.bytes + right.bytes != best.bytes) continue;

    left.bytes = best.bytes;
    left.token = best.token;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) symbols_[left.next].previous = best.left;
    Propose(text, left.previous);
    Propose(text, best.left);
  }
  for (Symbol& symbol : symbols_) {
    if (symbol.bytes > 0 && symbol.token < 0) symbol.token = Find(text.substr(symbol.begin, symbol.bytes));
  }
  return symbols_;
}

}  // namespace ekvi::text
