// Byte-pair encoding (Sennrich et al., "Neural Machine Translation of Rare Words with Subword Units", ACL 2016): a
// word's symbols are joined pairwise, the pair of lowest rank first, among equals the leftmost.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/model/bpe_merges.h"
#include "text/model/byte_tokens.h"
#include "text/model/subword_model.h"
#include "text/vocabulary/piece_table.h"

namespace ekvi::text {

struct BpeOptions {
  // Words are bytes and each is a symbol (byte-level vocabularies, whose texts are bytes here); else characters are.
  bool bytes = false;
  bool ignore_merges = false;      // a word that is a token as a whole is that token, joined or not
  bool byte_fallback = false;      // a character that is no symbol becomes its bytes' tokens "<0x0A>", if all are there
  bool fuse_unknown = false;       // neighbours without symbol become one unknown token
  std::optional<int32_t> unknown;  // for what no symbol writes; without it that is an error
  std::string word_prefix;         // of symbols that do not begin a word: "##"
  std::string word_suffix;         // of the symbol that ends a word: "</w>"
  std::vector<std::string> between;  // byte words: what ids from `size` on, which are no tokens, stand for in merges
};

class BpeModel : public SubwordModel {
 public:
  // `texts` are the tokens that plain text may become, control tokens not among them; `merges` joins them; ids are
  // below `size`. byte_tokens[b] is the id of "<0x..>" for byte b, -1 where there is none.
  BpeModel(BpeOptions options, PieceTable texts, const std::vector<BpeMerge>& merges, const ByteTokens& byte_tokens,
           int32_t size);

  // n log n in the length of the longest word; no allocation per word once the longest has been seen, but where merges
  // go through texts that are no tokens (`between`).
  std::unique_ptr<WordEncoder> NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const override;

 private:
  friend class BpeEncoder;
  enum class Whole : uint8_t { kNotTried, kYes, kNo };  // whether a token's text becomes that token

  BpeOptions options_;
  PieceTable texts_;
  BpeMerges merges_;
  ByteTokens byte_tokens_;
  std::array<int32_t, 256> symbols_;  // of bytes, or of ASCII characters; -1: none
  // Found out as words come up; each is written with the same value whoever writes it.
  mutable std::vector<std::atomic<Whole>> whole_;
};

}  // namespace ekvi::text
