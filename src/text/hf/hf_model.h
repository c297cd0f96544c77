// The vocabulary and the model of a tokenizer.json.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/hf/hf_json.h"
#include "text/model/subword_model.h"
#include "text/pipeline/added_tokens.h"
#include "text/vocabulary/piece_index.h"
#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {

// Every token of a tokenizer.json. Views into the document.
struct HfTokens {
  std::vector<std::string_view> pieces;  // by id; empty where there is none
  std::vector<PieceKind> kinds;
  PieceIndex index;        // of all pieces
  int32_t model_size = 0;  // tokens of the model itself have ids below

  std::optional<int32_t> Find(std::string_view piece) const {
    return index.Find(piece, [&](int32_t id) { return pieces[static_cast<size_t>(id)] == piece; });
  }
};

// Reads "added_tokens" and the vocabulary of "model". Errors: kCorrupt where an id or a piece stands twice, or an added
// token is in the model's vocabulary with another id; kUnsupported over 2^22 tokens, where ids are scattered (more than
// 65,536 are left out), or where a piece has over 4,096 bytes.
struct HfVocabulary {
  HfTokens tokens;
  std::vector<AddedToken> added;
};
HfVocabulary ReadHfVocabulary(const JsonValue& root);

enum class HfUnits { kCharacters, kBytes };

// What the words of a model may be made of where a byte-level pre-tokenizer comes last: bytes, or their characters.
HfUnits ByteLevelUnits(const JsonValue& model);

// The model: BPE, Unigram, WordPiece or WordLevel, for words of characters, or of bytes that its pieces write in the
// byte alphabet. Special tokens are none that text may become, unless a single character or byte would then have none;
// nor are the byte tokens of byte_fallback. Gives those their kinds.
// `pieces` are those of `tokens`.
std::unique_ptr<const SubwordModel> ReadHfModel(const JsonValue& model, HfUnits units, const Pieces& pieces,
                                                HfTokens& tokens);

}  // namespace ekvi::text
