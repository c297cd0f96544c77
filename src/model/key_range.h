// The ranges of the numbers that describe a model, the same for every kind of file.
#pragma once

#include <cstdint>

namespace ekvi::model {

struct KeyRange {
  int64_t least, most;
};

// Numbers above `above` and up to `most`. The ranges are those in which float32 stays finite whatever the weights of a
// working model are, with room on both sides of every published model.
struct NumberRange {
  double above, most;
};

inline constexpr NumberRange kEpsilonRange{1e-20, 1}, kScaleRange{1e-9, 1e9}, kShareRange{0, 1};
// Frequencies are at most 1 where the base is above 1, and at most 128 where no divisor is less than 1/128: then angles
// stay below 2^31 at every position of kContextRange, as numeric::SinCos wants them.
inline constexpr NumberRange kRopeBaseRange{1, 1e30}, kRopeFactorRange{1.0 / 128, 1e6};
inline constexpr NumberRange kAttentionFactorRange{1e-4, 1e4};
// Of the context that a stretched model was trained for; its logarithm is divided by.
inline constexpr NumberRange kOriginalContextRange{1, 1 << 24};

inline constexpr KeyRange kLayerRange{1, 1024}, kHeadRange{1, 1024}, kHeadDimRange{1, 1024}, kExpertRange{1, 1024};
inline constexpr KeyRange kWidthRange{1, int64_t{1} << 22}, kContextRange{1, int64_t{1} << 24};
inline constexpr KeyRange kVocabularyRange{1, int64_t{1} << 22};
// Where no value is too large: a window longer than the context, a step longer than the list of layers.
inline constexpr KeyRange kAnyCount{0, INT64_MAX}, kPositive{1, INT64_MAX};

}  // namespace ekvi::model
