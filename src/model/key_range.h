// The ranges of the numbers that describe a model, the same for every kind of file.
#pragma once

#include <cstdint>

namespace ekvi::model {

struct KeyRange {
  int64_t least, most;
};

inline constexpr KeyRange kLayerRange{1, 1024}, kHeadRange{1, 1024}, kHeadDimRange{1, 1024}, kExpertRange{1, 1024};
inline constexpr KeyRange kWidthRange{1, int64_t{1} << 22}, kContextRange{1, int64_t{1} << 24};
inline constexpr KeyRange kVocabularyRange{1, int64_t{1} << 22}, kAnyCount{0, INT64_MAX};

}  // namespace ekvi::model
