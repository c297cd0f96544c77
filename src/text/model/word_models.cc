#include "text/model/word_models.h"

#include <algorithm>

#include "ekvi/error.h"
#include "files/reader_error.h"

namespace ekvi::text {
namespace {

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

class WordPieceEncoder : public WordEncoder {
 public:
  WordPieceEncoder(const WordPieceModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}

  void Encode(std::string_view word) override {
    const size_t before = ids_.size();
    const auto characters = static_cast<size_t>(std::ranges::count_if(word, BeginsCharacter));
    bool written = characters <= model_.options_.characters_max;
    for (size_t at = 0; written && at < word.size();) {
      const size_t bytes = LongestAt(word, at);
      written = bytes > 0;
      at += bytes;
    }
    if (written) return;
    ids_.resize(before);
    ids_.push_back(model_.options_.unknown);
  }

 private:
  // Appends the longest piece at `at`; its bytes of the word, 0 where there is none.
  size_t LongestAt(std::string_view word, size_t at) {
    piece_ = at > 0 ? model_.options_.inner_prefix : "";
    const size_t prefix = piece_.size();
    const size_t room = model_.texts_.bytes_max() > prefix ? model_.texts_.bytes_max() - prefix : 0;
    size_t bytes = std::min(word.size() - at, room);
    piece_ += word.substr(at, bytes);
    for (; bytes > 0; --bytes) {
      if (at + bytes < word.size() && !BeginsCharacter(word[at + bytes])) continue;
      const auto id = model_.texts_.Find(std::string_view(piece_).substr(0, prefix + bytes));
      if (!id) continue;
      ids_.push_back(*id);
      return bytes;
    }
    return 0;
  }

  const WordPieceModel& model_;
  std::vector<int32_t>& ids_;
  std::string piece_;
};

class WordLevelEncoder : public WordEncoder {
 public:
  WordLevelEncoder(const WordLevelModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}

  void Encode(std::string_view word) override {
    const auto id = model_.texts_.Find(word);
    if (!id && !model_.unknown_) {
      throw Error(ErrorCode::kUnsupported, "the vocabulary cannot write " + files::Quote(word),
                  "it has no such word and no unknown token");
    }
    ids_.push_back(id ? *id : *model_.unknown_);
  }

 private:
  const WordLevelModel& model_;
  std::vector<int32_t>& ids_;
};

std::unique_ptr<WordEncoder> WordPieceModel::NewEncoder(size_t, std::vector<int32_t>& ids) const {
  return std::make_unique<WordPieceEncoder>(*this, ids);
}

std::unique_ptr<WordEncoder> WordLevelModel::NewEncoder(size_t, std::vector<int32_t>& ids) const {
  return std::make_unique<WordLevelEncoder>(*this, ids);
}

}  // namespace ekvi::text
