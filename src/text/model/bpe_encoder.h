// One text's words into tokens by byte-pair encoding: what BpeModel::NewEncoder gives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/model/bpe_model.h"

namespace ekvi::text {

class BpeEncoder : public WordEncoder {
 public:
  BpeEncoder(const BpeModel& model, size_t text_bytes, std::vector<int32_t>& ids);

  void Encode(std::string_view word) override;

 private:
  // A word seen before in this text, and where its ids stand in `ids_`.
  struct Seen {
    static constexpr size_t kBytesMax = 22;  // 99.9 % of the words of English text
    uint32_t begin;
    uint16_t count = 0;  // 0: a free slot
    uint8_t bytes;
    char word[kBytesMax + 1];
  };
  struct Symbol {
    int32_t id, previous, next;  // neighbours; -1: none. id -1: joined to its left neighbour
  };
  struct Candidate {
    uint32_t rank;
    int32_t left;  // symbol that would be joined with its next
    int32_t right_id, left_id, result;

    bool operator<(const Candidate& other) const { return rank != other.rank ? rank > other.rank : left > other.left; }
  };

  Seen* SlotOf(std::string_view word);
  // Appends the ids of a word that is a token as a whole; false where it is none, or known not to be joined to it.
  bool EncodeWhole(std::string_view word);
  void EncodeUnseen(std::string_view word);
  // Fills word_ with the ids of the word's symbols.
  void CutBytes(std::string_view word);
  void CutCharacters(std::string_view word);
  // A character at byte `at` of a word, with the prefix and suffix that it has there.
  std::string_view Affixed(std::string_view character, size_t at, size_t word_bytes);
  void AppendUnwritten(std::string_view symbol);
  void FlushUnknown();
  // Symbols that are no tokens become their bytes' again; those were there, or nothing could have joined.
  void TakeApart();
  // Both leave the joined ids in word_.
  void MergeShort();
  void MergeLong();
  void Propose(int32_t left);

  const BpeModel& model_;
  std::vector<int32_t>& ids_;
  std::vector<Seen> seen_;
  std::vector<int32_t> word_;
  int unknown_pending_ = 0;
  std::string affixed_;
  std::vector<Symbol> symbols_;
  std::vector<Candidate> queue_;
};

}  // namespace ekvi::text
