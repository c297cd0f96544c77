// Nodes are the beginnings of stop strings. For each byte of text the automaton falls back to shorter ends of the text
// until one can be continued with that byte. Fallbacks are linked breadth first: a node's is shorter than the node,
// hence complete before it is needed, and inherits the stop where the node itself ends none.
#include "engine/stop_matcher.h"

#include "base/check.h"

namespace ekvi::engine {

StopMatcher::StopMatcher(std::span<const std::string> stops) : nodes_(1) {
  for (const std::string& stop : stops) {
    EKVI_CHECK(!stop.empty());
    Insert(stop, static_cast<int32_t>(stop_bytes_.size()));
    stop_bytes_.push_back(static_cast<int32_t>(stop.size()));
  }
  LinkFallbacks();
}

int32_t StopMatcher::Child(int32_t node, unsigned char byte) const {
  int32_t child = nodes_[node].child;
  while (child >= 0 && nodes_[child].byte != byte) child = nodes_[child].sibling;
  return child;
}

int32_t StopMatcher::AddChild(int32_t node, unsigned char byte) {
  const auto added = static_cast<int32_t>(nodes_.size());
  nodes_.push_back({.byte = byte, .sibling = nodes_[node].child, .depth = nodes_[node].depth + 1});
  nodes_[node].child = added;
  return added;
}

void StopMatcher::Insert(std::string_view stop, int32_t index) {
  int32_t node = 0;
  for (const char c : stop) {
    const auto byte = static_cast<unsigned char>(c);
    const int32_t child = Child(node, byte);
    node = child >= 0 ? child : AddChild(node, byte);
  }
  if (nodes_[node].stop < 0) nodes_[node].stop = index;
}

int32_t StopMatcher::Next(int32_t state, unsigned char byte) const {
  for (;; state = nodes_[state].fallback) {
    if (const int32_t child = Child(state, byte); child >= 0) return child;
    if (state == 0) return 0;
  }
}

void StopMatcher::LinkFallbacks() {
  std::vector<int32_t> queue = {0};
  for (size_t i = 0; i < queue.size(); ++i) {
    const int32_t parent = queue[i];
    for (int32_t node = nodes_[parent].child; node >= 0; node = nodes_[node].sibling) {
      Node& entry = nodes_[node];
      entry.fallback = parent == 0 ? 0 : Next(nodes_[parent].fallback, entry.byte);
      if (entry.stop < 0) entry.stop = nodes_[entry.fallback].stop;
      queue.push_back(node);
    }
  }
}

bool StopMatcher::Push(std::string_view piece, std::string* out) {
  if (stopped_) return true;
  for (size_t i = 0; i < piece.size(); ++i) {
    state_ = Next(state_, static_cast<unsigned char>(piece[i]));
    stop_ = nodes_[state_].stop;
    if (stop_ < 0) continue;
    stopped_ = true;
    held_.append(piece.substr(0, i + 1));
    out->append(held_, 0, held_.size() - static_cast<size_t>(stop_bytes_[stop_]));
    held_.clear();
    return true;
  }
  held_.append(piece);
  const size_t passed = held_.size() - static_cast<size_t>(nodes_[state_].depth);
  out->append(held_, 0, passed);
  held_.erase(0, passed);
  return false;
}

void StopMatcher::Finish(std::string* out) {
  out->append(held_);
  held_.clear();
  state_ = 0;
}

}  // namespace ekvi::engine
