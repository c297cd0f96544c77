// Tokens that a tokenizer.json adds beside its model: found in the text before anything else looks at it, each by its
// own rules. After Hugging Face tokenizers, "AddedToken".
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary/piece_trie.h"
#include "text/vocabulary/special_names.h"

namespace ekvi::text {

struct AddedToken {
  std::string content;
  int32_t id = 0;
  bool single_word = false;  // only where no letter or digit stands beside it
  bool lstrip = false;       // takes the white space in front of it
  bool rstrip = false;       // and behind it
  bool normalized = false;   // looked for in the normalized text, by its normalized name
  bool special = false;      // controls the model: only on request
};

class AddedTokens {
 public:
  AddedTokens() { begins_.fill(false); }
  // Of two with the same content the first counts.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  // The parts of a valid text in order, none empty. The longest name at the leftmost place first; one that may not
  // stand there is passed over, with what it covers. Time is the length of the text times that of the longest name.
  // With the white space that two neighbours take, tokens may stand at the same place.
  // `plain`: parts of the text in which, and over whose edges, special tokens are not found (EncodeOptions::plain).
  std::vector<TextPart> Split(std::string_view text, bool special, std::span<const std::string_view> plain = {}) const;
  bool has_special() const;

 private:
  std::vector<AddedToken> tokens_;
  PieceTrie trie_;  // of indices
  std::array<bool, 256> begins_;
};

}  // namespace ekvi::text
