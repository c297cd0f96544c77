#include "text/vocabulary/keyed_table.h"

#include <random>

namespace ekvi::text {

HashKey::HashKey() {
  std::random_device random;
  key_ = uint64_t{random()} << 32 | random();
  factor_ = (uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace ekvi::text
