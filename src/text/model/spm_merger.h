// The merging of SentencePiece's byte-pair encoding: a text's characters are joined pairwise into ever longer pieces,
// the pair with the best score first, among equals the leftmost, until no two neighbours are a piece. Kudo and
// Richardson, "SentencePiece", EMNLP 2018 (section 3.2); scores stand for merge ranks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary/piece_table.h"
#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {

// The tokens that text may become: of kind kNormal or kUserDefined, the last one where several write the same.
PieceTable SpmTexts(const Vocabulary& vocabulary);

// Joins one text at a time; keeps its memory between texts. About 40 bytes per character of the longest text.
class SpmMerger {
 public:
  // `texts` are SpmTexts of the vocabulary. It has scores; both must outlive this.
  SpmMerger(const Vocabulary& vocabulary, const PieceTable& texts) : vocabulary_(vocabulary), texts_(texts) {}

  struct Symbol {
    uint32_t begin, bytes;   // in the text; bytes 0: joined to its left neighbour
    int32_t previous, next;  // neighbours; -1: none
    int32_t token;           // that writes it; -1: none
  };

  // The symbols that are left, those with bytes 0 to be passed over. Bytes that are no character are symbols of their
  // own. `text` has fewer than 2^31 bytes.
  const std::vector<Symbol>& Merge(std::string_view text);

  // Look-ups, and entries put into and taken from the queue, since construction: the cost that grows with the text.
  uint64_t operations() const { return operations_; }

 private:
  struct Candidate {
    float score;
    int32_t left;    // symbol that would be joined with its next
    uint32_t bytes;  // of both together; differs once either has changed
    int32_t token;

    bool operator<(const Candidate& other) const {
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  void Cut(std::string_view text);
  int32_t Find(std::string_view text);
  void Propose(std::string_view text, int32_t left);

  const Vocabulary& vocabulary_;
  const PieceTable& texts_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
  uint64_t operations_ = 0;
};

}  // namespace ekvi::text
