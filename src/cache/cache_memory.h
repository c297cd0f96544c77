// What an error says when there is no memory for a cache.
#pragma once

#include "base/aligned.h"

namespace ekvi::cache {

inline constexpr base::MemoryTerms kCacheTerms = {
    .what = "a key/value cache",
    .hint =
        "a smaller context, fewer rows, a cache type of fewer bits, other programs closed, or a machine with more "
        "memory"};

}  // namespace ekvi::cache
