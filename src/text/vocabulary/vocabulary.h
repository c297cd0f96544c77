// The pieces of a tokenizer: their bytes, kinds and scores, and the ids that mean something.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary/pieces.h"

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

// What a vocabulary is made of.
struct VocabularyParts {
  Pieces pieces;
  std::vector<PieceKind> kinds;  // one each
  std::vector<float> scores;     // one each, or empty
  std::optional<int32_t> begin, unknown;
  std::vector<int32_t> ends;
  std::vector<int32_t> prefix;    // put in front of a text
  bool add_begin = false;         // put the begin token there, where no prefix is given
  bool add_space_prefix = false;  // put a space in front of a text
};

// Read-only. Movable, not copied; views stay valid.
class Vocabulary {
 public:
  // Checked: sizes agree, ids are in range, pieces of kind kByte have the form ByteOfPiece reads.
  explicit Vocabulary(VocabularyParts parts);
  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int32_t size() const { return static_cast<int32_t>(pieces_.size()); }
  bool Contains(int32_t id) const { return id >= 0 && id < size(); }

  // `id` is in the vocabulary (checked).
  std::string_view Piece(int32_t id) const { return pieces_[Checked(id)]; }
  PieceKind Kind(int32_t id) const { return kinds_[Checked(id)]; }
  float Score(int32_t id) const { return scores_[Checked(id)]; }

  // The token of kind kByte for each byte; -1: none.
  const std::array<int32_t, 256>& byte_tokens() const { return byte_tokens_; }
  // The pieces, which may outlive this.
  const Pieces& pieces() const { return pieces_; }

  std::optional<int32_t> begin() const { return begin_; }
  std::optional<int32_t> unknown() const { return unknown_; }
  std::span<const int32_t> ends() const { return ends_; }
  // What is put in front of a text that asks for it.
  std::span<const int32_t> prefix() const { return prefix_; }
  bool add_begin() const { return !prefix_.empty(); }
  bool add_space_prefix() const { return add_space_prefix_; }

 private:
  size_t Checked(int32_t id) const;

  Pieces pieces_;
  std::vector<PieceKind> kinds_;
  std::vector<float> scores_;
  std::optional<int32_t> begin_, unknown_;
  std::vector<int32_t> ends_;
  std::array<int32_t, 256> byte_tokens_;
  std::vector<int32_t> prefix_;
  bool add_space_prefix_;
};

}  // namespace ekvi::text
