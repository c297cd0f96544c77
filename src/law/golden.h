// Replays of reference vectors: files of steps or tokens with the results that somebody else computed in float64.
#pragma once

#include "files/safetensors.h"

namespace ekvi::law {

// Both return the worst absolute error over every storage and cut; a NaN error is +inf. Errors: kCorrupt where the file
// does not hold what its kind needs.

// Kind "gqa_attention": steps of ragged grouped attention over a preallocated cache, arrays [batch, heads, tokens,
// head_dim]. Every step whole, token by token and in random cuts, on contiguous and paged caches. A step that would
// pass max_len must be refused and leave every byte.
double ReplayAttention(const files::SafetensorsFile& file);

// Kind "decoder": a one-layer decoder, whole, token by token and in the file's cuts: logits, hidden states, caches,
// classes.
double ReplayDecoder(const files::SafetensorsFile& file);

}  // namespace ekvi::law
