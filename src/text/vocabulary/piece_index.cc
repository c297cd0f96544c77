// Eight bytes at a time are folded into the state by the two halves of a 128-bit product; both factors hold the key.
#include "text/vocabulary/piece_index.h"

#include <bit>
#include <cstring>
#include <random>

#include "base/check.h"

namespace ekvi::text {
namespace {

constexpr uint64_t kOdd = 0x9E3779B97F4A7C15u;

uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

PieceIndex::PieceIndex(size_t count) : slots_(std::bit_ceil(count + count / 2 + 1)) {
  std::random_device random;
  key_ = uint64_t{random()} << 32 | random();
}

uint64_t PieceIndex::Hash(std::string_view piece) const {
  uint64_t state = key_ ^ piece.size() * kOdd;
  while (!piece.empty()) {
    uint64_t word = 0;
    const size_t bytes = std::min(piece.size(), sizeof(word));
    std::memcpy(&word, piece.data(), bytes);
    state = Fold(state ^ word, key_ ^ kOdd);
    piece.remove_prefix(bytes);
  }
  return Fold(state ^ kOdd, key_ | 1);
}

size_t PieceIndex::Locate(std::string_view piece) const {
  const size_t mask = slots_.size() - 1;
  size_t at = Hash(piece) & mask;
  while (slots_[at].id >= 0 && std::string_view(slots_[at].data, slots_[at].bytes) != piece) at = (at + 1) & mask;
  return at;
}

void PieceIndex::Insert(std::string_view piece, int32_t id) {
  EKVI_CHECK(id >= 0);
  slots_[Locate(piece)] = {piece.data(), static_cast<uint32_t>(piece.size()), id};
}

std::optional<int32_t> PieceIndex::Find(std::string_view piece) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[Locate(piece)];
  return slot.id < 0 ? std::nullopt : std::optional(slot.id);
}

}  // namespace ekvi::text
