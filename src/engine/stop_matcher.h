// Finds stop strings in text that arrives in pieces, and lets through at once what cannot belong to one.
//
// The stop that is complete first wins; of several complete at the same byte, the longest. This is a function of the
// whole text: how it was cut into pieces changes neither the output nor the stop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi::engine {

// An automaton of Aho and Corasick, "Efficient string matching: an aid to bibliographic search" (CACM 1975): its state
// is the longest end of the text that begins a stop string, and exactly that end is held back. Memory is proportional
// to the stop strings, time to the text.
class StopMatcher {
 public:
  // Precondition (checked): no string is empty. No strings: everything passes.
  explicit StopMatcher(std::span<const std::string> stops);

  // Takes the next piece and appends to `out` the text that no stop string can reach into any more. True once a stop is
  // complete: `out` then ends right before it, and all later pieces are ignored.
  bool Push(std::string_view piece, std::string* out);
  // The text is over: appends what was held back to `out`, nothing after a stop.
  void Finish(std::string* out);

  bool stopped() const { return stopped_; }
  // The stop that was found: its index among the constructor's strings (the first of equal ones); -1 before.
  int stop() const { return stop_; }

 private:
  struct Node {
    unsigned char byte = 0;  // on the edge from the parent
    int32_t child = -1;      // first of its children
    int32_t sibling = -1;    // next child of the same parent
    int32_t fallback = 0;    // the node of the longest proper end of this node's string
    int32_t depth = 0;       // bytes of this node's string
    int32_t stop = -1;       // the longest stop that this node's string ends with
  };

  int32_t Child(int32_t node, unsigned char byte) const;
  int32_t AddChild(int32_t node, unsigned char byte);
  int32_t Next(int32_t state, unsigned char byte) const;
  void Insert(std::string_view stop, int32_t index);
  void LinkFallbacks();

  std::vector<Node> nodes_;          // nodes_[0] is the empty string
  std::vector<int32_t> stop_bytes_;  // [stop]
  std::string held_;                 // the string of state_
  int32_t state_ = 0;
  int32_t stop_ = -1;
  bool stopped_ = false;
};

}  // namespace ekvi::engine
