#include "text/model/bpe_merges.h"

#include <bit>
#include <random>

namespace ekvi::text {

BpeMerges::BpeMerges(const std::vector<BpeMerge>& merges) : slots_(std::bit_ceil(2 * merges.size() + 1)) {
  mask_ = slots_.size() - 1;
  std::random_device random;
  key_ = uint64_t{random()} << 32 | random();
  factor_ = (uint64_t{random()} << 32 | random()) | 1;
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const uint64_t pair = Pair(merges[rank].left, merges[rank].right);
    size_t at = Place(pair);
    while (slots_[at].entry.rank != kNone && slots_[at].pair != pair) at = (at + 1) & mask_;
    slots_[at] = {pair, {static_cast<uint32_t>(rank), merges[rank].result}};
  }
}

}  // namespace ekvi::text
