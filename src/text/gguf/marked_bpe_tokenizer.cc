#include "text/gguf/marked_bpe_tokenizer.h"

#include <algorithm>

namespace ekvi::text {

MarkedBpeTokenizer::MarkedBpeTokenizer(std::string_view name, Vocabulary vocabulary,
                                       std::unique_ptr<const BpeModel> model)
    : GgufTokenizer(name, std::move(vocabulary)), model_(std::move(model)) {
  for (int32_t id = 0; id < this->vocabulary().size(); ++id) {
    const std::string_view piece = this->vocabulary().Piece(id);
    if (piece.empty() || piece.find_first_not_of('\n') != piece.npos) continue;
    if (this->vocabulary().Kind(id) != PieceKind::kNormal) continue;
    if (line_ends_.size() <= piece.size()) line_ends_.resize(piece.size() + 1, -1);
    line_ends_[piece.size()] = id;
  }
}

void MarkedBpeTokenizer::EncodePlain(std::string_view text, TextPlace place, std::vector<int32_t>& ids) const {
  const std::string marked = MarkSpaces(text, place.start && vocabulary().add_space_prefix());
  const std::string_view all = marked;
  const auto encoder = model_->NewEncoder(all.size(), ids);
  for (size_t begin = 0; begin < all.size();) {
    const bool lines = all[begin] == '\n';
    const size_t end = std::min(lines ? all.find_first_not_of('\n', begin) : all.find('\n', begin), all.size());
    const size_t bytes = end - begin;
    if (lines && bytes < line_ends_.size() && line_ends_[bytes] >= 0) {
      ids.push_back(line_ends_[bytes]);
    } else {
      encoder->Encode(all.substr(begin, bytes));
    }
    begin = end;
  }
}

void MarkedBpeTokenizer::AppendPiece(std::string_view piece, TextPlace place, std::string& bytes) const {
  AppendUnmarked(piece, place, bytes);
}

void MarkedBpeTokenizer::AppendUserDefined(std::string_view piece, std::string& bytes) const {
  AppendUnmarked(piece, {.start = false}, bytes);
}

}  // namespace ekvi::text
