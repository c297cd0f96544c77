// What a GGUF file says of its vocabulary, checked as it is read: every array as long as the list of pieces, every id
// inside. Keys after https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, section "Tokenizer".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "files/gguf.h"
#include "text/model/bpe_merges.h"
#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {

inline constexpr std::string_view kGgufModelKey = "tokenizer.ggml.model";
inline constexpr std::string_view kGgufPreKey = "tokenizer.ggml.pre";
inline constexpr std::string_view kGgufTokensKey = "tokenizer.ggml.tokens";
inline constexpr std::string_view kGgufMergesKey = "tokenizer.ggml.merges";
inline constexpr std::string_view kGgufTypesKey = "tokenizer.ggml.token_type";
inline constexpr std::string_view kGgufScoresKey = "tokenizer.ggml.scores";

// Ids that count where the file has no key for them and the piece there is of the right kind.
struct GgufDefaultIds {
  std::optional<int32_t> begin, end, unknown;
};

// Pieces, kinds, scores where the file has any, and the ids that mean something: begin, unknown, and all that end a
// text or a turn (keys eos, eot, eom; without the last two, control tokens with the names that public models give
// them). Views into the file. Errors as LoadTokenizer's.
VocabularyParts ReadGgufVocabulary(const files::GgufFile& file, const GgufDefaultIds& defaults);

// The scores, one for each piece; Error(kCorrupt) where the key is missing.
std::vector<float> ReadGgufScores(const files::GgufFile& file, size_t pieces);

// The merges of a byte-pair encoding, in order. A vocabulary may lack what a merge makes: it then stands between
// others, with an id of its own behind the pieces', and what is left of it in the end becomes its bytes again. Merges
// that would make a control token are left out: plain text never becomes one. Error(kCorrupt) with the item where it is
// no two texts with a blank in between; or where two pieces are the same.
struct GgufMerges {
  std::vector<BpeMerge> merges;
  std::vector<std::string> between;  // of ids from the number of pieces on, in the byte alphabet
};
GgufMerges ReadGgufMerges(const files::GgufFile& file, const VocabularyParts& parts);

}  // namespace ekvi::text
