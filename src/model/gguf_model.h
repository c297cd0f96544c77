// From a GGUF file's keys and tensors to a configuration and names, for every architecture that is known.
//
// What the file says is obeyed, also where other programs ignore it: a window stored for any architecture, YaRN's
// betas.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "files/gguf_parts.h"
#include "model/family.h"
#include "model/gguf_keys.h"

namespace ekvi::model {

// `pieces` is the size of the vocabulary. Errors: kCorrupt for a key that is missing or out of range, numbers that do
// not fit together, a token_embd.weight whose rows are not `pieces`; kUnsupported, naming what is supported, for
// another architecture, a kind of rope scaling or a router that is not computed.
FamilyModel ReadGgufModel(const files::GgufParts& parts, int64_t pieces);

// Throws where ReadGgufModel would for the architecture's sake.
void CheckArchitecture(const files::GgufFile& file);

// Rotary positions of a layer without its own rules: keys and tensors (gguf_rope.cc).
RopeConfig ReadGgufRope(const GgufKeys& keys, const GgufRules& rules, const Settings& settings);

// Names of the tensors of every layer and around them (gguf_names.cc). An order of rows is built only for tensors that
// really have as many: what a file claims could be without bound.
WeightNames GgufNames(const files::GgufParts& parts, const Family& family, const Settings& settings);
// "blk.7."
std::string BlockName(int64_t layer);

// Where the rows of halves come from: row (head, half j, pair i) is the stored row (head, 2i + j) among the first
// `dims` of each head; other rows stay. [heads × head_dim]
std::vector<int32_t> HalvesFromPairs(int64_t heads, int64_t head_dim, int64_t dims);

}  // namespace ekvi::model
