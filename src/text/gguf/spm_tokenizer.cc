// Where no piece of the vocabulary holds a space mark behind another character, no join can reach across the start of a
// word, so each word, with the marks in front of it, is merged alone: the same ids, with a queue as short as the word.
#include "text/gguf/spm_tokenizer.h"

#include <algorithm>

#include "text/model/byte_tokens.h"
#include "text/model/spm_merger.h"

namespace ekvi::text {
namespace {

// The first place in `text`, behind `from`, where a mark follows something that is no mark; its size where there is
// none.
size_t NextWord(std::string_view text, size_t from) {
  while (text.substr(from).starts_with(kSpaceMark)) from += kSpaceMark.size();
  return std::min(text.find(kSpaceMark, from), text.size());
}

bool HoldsInnerMark(std::string_view piece) { return NextWord(piece, 0) != piece.size(); }

}  // namespace

SpmTokenizer::SpmTokenizer(Vocabulary vocabulary)
    : GgufTokenizer("llama", std::move(vocabulary)), texts_(SpmTexts(this->vocabulary())) {
  const Vocabulary& pieces = this->vocabulary();
  for (int32_t id = 0; id < pieces.size() && words_apart_; ++id) words_apart_ = !HoldsInnerMark(pieces.Piece(id));
}

void SpmTokenizer::EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const {
  const std::string marked = MarkSpaces(text, place.start && vocabulary().add_space_prefix());
  SpmMerger merger(vocabulary(), texts_);
  Last last = Last::kKnown;
  for (size_t begin = 0; begin < marked.size();) {
    const size_t end = words_apart_ ? NextWord(marked, begin) : marked.size();
    const std::string_view word = std::string_view(marked).substr(begin, end - begin);
    for (const SpmMerger::Symbol& symbol : merger.Merge(word)) {
      if (symbol.bytes == 0) continue;
      if (symbol.token < 0) {
        last = AppendFallback(word.substr(symbol.begin, symbol.bytes), last, ids);
      } else {
        ids.push_back(symbol.token);
        last = Last::kKnown;
      }
    }
    begin = end;
  }
}

SpmTokenizer::Last SpmTokenizer::AppendFallback(std::string_view symbol, Last last, std::vector<int32_t>& ids) const {
  const std::string_view bytes = symbol == kSpaceMark ? " " : symbol;
  if (AppendByteTokens(vocabulary().byte_tokens(), bytes, ids)) return Last::kKnown;
  if (!vocabulary().unknown()) throw CannotWrite(bytes, static_cast<size_t>(vocabulary().size()));
  if (last == Last::kKnown) ids.push_back(*vocabulary().unknown());
  return Last::kUnknown;
}

void SpmTokenizer::AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const {
  AppendUnmarked(piece, place, bytes);
}

void SpmTokenizer::AppendUserDefined(std::string_view piece, std::string& bytes) const {
  AppendUnmarked(piece, {.start = false}, bytes);
}

}  // namespace ekvi::text
