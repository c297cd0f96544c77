// SentencePiece's table of replacements ("precompiled charsmap"): a trie of the texts that are replaced, and what by.
// Layout: u32 bytes of the trie; the trie, a double array of u32 units as the library Darts-clone writes it; then the
// replacements, each ended by a zero byte. Little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/normalizer.h"

namespace ekvi::text {

class Charsmap {
 public:
  // Error(kCorrupt) without a file's name where the lengths do not fit.
  explicit Charsmap(std::string_view blob);

  struct Match {
    size_t bytes;  // of the text
    std::string_view replacement;
  };
  // The shortest, or the longest, entry that `text` begins with. Any bytes of a trie are safe to walk; replacements
  // are valid UTF-8. Error(kCorrupt) where an entry has over 1,024 bytes: in a trie that leads back to itself.
  std::optional<Match> Shortest(std::string_view text) const { return Find(text, Want::kShortest); }
  std::optional<Match> Longest(std::string_view text) const { return Find(text, Want::kLongest); }

 private:
  enum class Want { kShortest, kLongest };
  std::optional<Match> Find(std::string_view text, Want want) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

// As Hugging Face tokenizers apply it: grapheme clusters below six bytes by the shortest entry that they begin with,
// else each character by its.
class Precompiled : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}
  void Apply(std::string& text) const override;

 private:
  Charsmap map_;
};

}  // namespace ekvi::text
