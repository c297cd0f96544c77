// The pieces of a tokenizer: their bytes, kinds and scores, and the ids that mean something.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary/piece_index.h"

namespace ekvi::text {

// The numbers of the key tokenizer.ggml.token_type.
enum class PieceKind : uint8_t {
  kNormal = 1,       // text
  kUnknown = 2,      // stands for text that no piece writes
  kControl = 3,      // begin, end, turns: no text, and never made from plain text
  kUserDefined = 4,  // text that is always one token
  kUnused = 5,       // never made from text
  kByte = 6,         // "<0x0A>": one byte of a character that no piece writes
};

// The byte that a piece of the form "<0x0A>" stands for; nothing for other pieces.
std::optional<uint8_t> ByteOfPiece(std::string_view piece);

// What a vocabulary is made of; the bytes of `pieces` are copied.
struct VocabularyParts {
  std::vector<std::string_view> pieces;
  std::vector<PieceKind> kinds;  // one each
  std::vector<float> scores;     // one each, or empty
  std::optional<int32_t> begin, unknown;
  std::vector<int32_t> ends;
  std::vector<int32_t> prefix;    // put in front of a text
  bool add_begin = false;         // put the begin token there, where no prefix is given
  bool add_space_prefix = false;  // put a space in front of a text
};

// Read-only. Movable; views stay valid.
class Vocabulary {
 public:
  // Checked: sizes agree, ids are in range, pieces of kind kByte have the form ByteOfPiece reads.
  explicit Vocabulary(VocabularyParts parts);

  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  bool Contains(int32_t id) const { return id >= 0 && id < size(); }

  // `id` is in the vocabulary (checked).
  std::string_view Piece(int32_t id) const { return pieces_[Checked(id)]; }
  PieceKind Kind(int32_t id) const { return kinds_[Checked(id)]; }
  float Score(int32_t id) const { return scores_[Checked(id)]; }

  // The token that writes exactly `text`: of kind kNormal or kUserDefined, the last one where several do.
  std::optional<int32_t> FindText(std::string_view text) const { return index_.Find(text); }
  std::optional<int32_t> ByteToken(uint8_t byte) const;
  size_t piece_bytes_max() const { return piece_bytes_max_; }

  std::optional<int32_t> begin() const { return begin_; }
  std::optional<int32_t> unknown() const { return unknown_; }
  std::span<const int32_t> ends() const { return ends_; }
  // What is put in front of a text that asks for it.
  std::span<const int32_t> prefix() const { return prefix_; }
  bool add_begin() const { return !prefix_.empty(); }
  bool add_space_prefix() const { return add_space_prefix_; }

 private:
  size_t Checked(int32_t id) const;

  std::vector<char> bytes_;
  std::vector<std::string_view> pieces_;
  std::vector<PieceKind> kinds_;
  std::vector<float> scores_;
  std::optional<int32_t> begin_, unknown_;
  std::vector<int32_t> ends_;
  std::array<int32_t, 256> byte_tokens_;
  std::vector<int32_t> prefix_;
  bool add_space_prefix_;
  size_t piece_bytes_max_ = 0;
  PieceIndex index_;
};

}  // namespace ekvi::text
