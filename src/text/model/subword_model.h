// What turns a word into tokens, once text has been cut into words: byte-pair encoding, Unigram, and their kin.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace ekvi::text {

// Encodes the words of one text, for one thread; keeps its memory between words.
class WordEncoder {
 public:
  virtual ~WordEncoder() = default;
  // Appends the ids of `word`, which is not empty, to the list given to NewEncoder. Error(kUnsupported) where the
  // vocabulary cannot write it.
  virtual void Encode(std::string_view word) = 0;
};

// Read-only and safe to share between threads.
class SubwordModel {
 public:
  virtual ~SubwordModel() = default;
  // For a text of about `text_bytes` bytes. `ids` and the model must outlive the encoder; others may append to `ids`.
  virtual std::unique_ptr<WordEncoder> NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const = 0;
};

}  // namespace ekvi::text
