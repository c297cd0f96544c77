// Between tokens in arithmetic types and the slots of a tile: a cache's only way to turn values into stored bytes and
// back.
//
// Storage orders of a tile of 16 slots (KeyOrder in ekvi/cache.h): token-major [slot][d], or interleaved [d][slot].
// Values are rounded by numeric::Narrow, to nearest even. Nothing here allocates.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/tile.h"
#include "ekvi/cache.h"
#include "ekvi/dtype.h"

namespace ekvi::cache {

// Slots first_slot … first_slot + count - 1 of one head's tile that begins at `data`.
// Requires first_slot + count ≤ 16 and at least one slot.
struct SlotRange {
  std::byte* data;
  DType dtype;
  KeyOrder order;
  int head_dim;
  int first_slot;
  int count;
};

// Slot first_slot + t receives rows[t × token_stride + d], d = 0 … head_dim - 1.
template <typename T>
void WriteSlots(const SlotRange& slots, const T* rows, int64_t token_stride);

// One slot of a tile.
struct Slot {
  const std::byte* data;
  DType dtype;
  KeyOrder order;
  int head_dim;
  int index;
};

// out[head_dim], exact.
void ReadSlot(const Slot& slot, double* out);

}  // namespace ekvi::cache
