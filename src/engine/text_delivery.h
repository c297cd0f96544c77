// The way of a generation's text: tokens become bytes, stop strings are cut off, the rest goes to the caller at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "engine/stop_matcher.h"

namespace ekvi::engine {

// The text of tokens, as ekvi::TextStream gives it: `push` returns what a token completes, `finish` what is left.
// Both empty: the tokens have no text.
struct TextSource {
  std::function<std::string(int32_t)> push;
  std::function<std::string()> finish;
};

using OnText = std::function<void(std::string_view)>;

class TextDelivery {
 public:
  // All referred to, not copied: they must outlive this. `on_text` may be empty. Text is never delivered as an empty
  // piece.
  TextDelivery(const TextSource& source, std::span<const std::string> stops, const OnText& on_text);

  // Delivers what `token` completes, but for a tail that could still become a stop. True once a stop string is
  // complete: nothing is delivered after.
  bool Push(int32_t token);
  // The generation is over: delivers what is left. True where that completes a stop string.
  bool Finish();

  // Everything delivered.
  const std::string& text() const { return text_; }
  std::string TakeText() { return std::move(text_); }
  void Reserve(size_t bytes) { text_.reserve(bytes); }

 private:
  void Deliver(size_t from);

  const TextSource* source_;
  const OnText* on_text_;
  StopMatcher matcher_;
  std::string text_;
};

}  // namespace ekvi::engine
