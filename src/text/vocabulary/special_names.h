// Cuts a text at the names of special tokens: those that are one token wherever they stand, and on request control
// tokens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {

// A part of a text: plain, or the name of a token.
struct TextPart {
  std::string_view text;
  std::optional<int32_t> token;
};

// Whether `name` overlaps one of `parts`. Both are of the same text; the parts in order, none overlapping.
bool ReachesInto(std::span<const std::string_view> parts, std::string_view name);

class SpecialNames {
 public:
  // The names are those of the vocabulary's pieces of the given kinds; the vocabulary's bytes must outlive this.
  SpecialNames(const Vocabulary& vocabulary, std::initializer_list<PieceKind> kinds);

  // The parts in order, none empty. Longest names first (llama.cpp's rule, under which a long name in the text is never
  // cut by a shorter one that begins before it), then lower ids, then left to right. n log n in the length of the text.
  // In parts of the text that are `foreign`, and over their edges, only the names of `anywhere` are found.
  struct Foreign {
    std::span<const std::string_view> parts = {};
    const SpecialNames* anywhere = nullptr;  // needed where there are parts
  };
  std::vector<TextPart> Split(std::string_view text, const Foreign& foreign) const;
  std::vector<TextPart> Split(std::string_view text) const { return Split(text, {}); }

 private:
  struct Name {
    std::string_view text;
    int32_t id;
  };
  // The longest name that `text` begins with and that has at most `bytes_max` bytes; nullptr where there is none.
  const Name* LongestAt(std::string_view text, size_t bytes_max) const;
  const Name* LongestAt(std::string_view text, size_t bytes_max, const Foreign& foreign) const;

  std::vector<Name> names_;  // sorted by text, none twice
  std::array<bool, 256> begins_{};
  size_t bytes_max_ = 0;
};

}  // namespace ekvi::text
