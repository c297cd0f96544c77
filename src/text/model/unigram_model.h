// The Unigram model (Kudo, "Subword Regularization", ACL 2018): of all ways to write a word in pieces, the one whose
// scores, logarithms of probabilities, have the greatest sum.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "text/model/byte_tokens.h"
#include "text/model/subword_model.h"
#include "text/vocabulary/piece_trie.h"

namespace ekvi::text {

struct UnigramOptions {
  std::optional<int32_t> unknown;  // for characters that no piece writes, a run of them one; without it an error
  bool byte_fallback = false;      // their bytes' tokens "<0x0A>" instead, if all are there
  double unknown_score = 0;        // of such a character
};

class UnigramModel : public SubwordModel {
 public:
  // `texts` holds the tokens that plain text may become; scores[id] is theirs. byte_tokens as for BpeModel.
  UnigramModel(UnigramOptions options, PieceTrie texts, std::vector<double> scores, const ByteTokens& byte_tokens);

  // Time is the length of the word times that of the longest piece; 16 bytes per byte of the longest word.
  std::unique_ptr<WordEncoder> NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const override;

 private:
  friend class UnigramEncoder;

  UnigramOptions options_;
  PieceTrie texts_;
  std::vector<double> scores_;
  ByteTokens byte_tokens_;
};

}  // namespace ekvi::text
