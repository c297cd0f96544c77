// The two models that look words up: WordPiece takes a word's longest known beginning again and again (Wu et al.,
// "Google's Neural Machine Translation System", 2016), WordLevel takes words whole.
#pragma once

#include <optional>
#include <string>

#include "text/model/subword_model.h"
#include "text/vocabulary/piece_table.h"
#include "text/vocabulary/piece_trie.h"

namespace ekvi::text {

struct WordPieceOptions {
  std::string inner_prefix = "##";  // of pieces that do not begin a word
  size_t characters_max = 100;      // longer words are unknown
  int32_t unknown = 0;              // for a word that cannot be written: the whole of it
};

class WordPieceModel : public SubwordModel {
 public:
  WordPieceModel(WordPieceOptions options, PieceTrie texts);
  // Time is at most the length of the word times that of the longest piece.
  std::unique_ptr<WordEncoder> NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const override;

 private:
  friend class WordPieceEncoder;
  WordPieceOptions options_;
  PieceTrie texts_;
  uint32_t inner_ = PieceTrie::kRoot;  // where pieces that do not begin a word begin
};

class WordLevelModel : public SubwordModel {
 public:
  WordLevelModel(std::optional<int32_t> unknown, PieceTable texts) : unknown_(unknown), texts_(std::move(texts)) {}
  std::unique_ptr<WordEncoder> NewEncoder(size_t text_bytes, std::vector<int32_t>& ids) const override;

 private:
  friend class WordLevelEncoder;
  std::optional<int32_t> unknown_;
  PieceTable texts_;
};

}  // namespace ekvi::text
