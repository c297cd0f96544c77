// The Llama family (also Mistral and its like) in GGUF files: RMS norms, rotary positions, grouped KV heads, gated
// SiLU.
//
// What the file says is obeyed, also where other programs ignore it: a sliding window, YaRN's betas. Rows of attn_q
// and attn_k are stored for rotary pairs (2i, 2i + 1); they are put back into halves (i, i + dims / 2) while loading,
// which changes no score, since q and k are reordered alike.
#pragma once

#include <cstdint>

#include "model/family.h"

namespace ekvi::model {

// Errors: kCorrupt for a key that is missing or out of range, heads that do not divide, a token_embd.weight whose rows
// are not `pieces`; kUnsupported for experts and for kinds of rope scaling other than none, linear and yarn.
FamilyModel ReadLlama(const files::GgufFile& file, int64_t pieces);

// Where the rows of halves come from: row (head, half j, pair i) is the stored row (head, 2i + j) among the first
// `dims` of each head; other rows stay. [heads × head_dim]
std::vector<int32_t> HalvesFromPairs(int64_t heads, int64_t head_dim, int64_t dims);

}  // namespace ekvi::model
