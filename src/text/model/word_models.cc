#include "text/model/word_models.h"

#include <algorithm>

#include "base/utf8.h"
#include "ekvi/error.h"
#include "files/reader_error.h"

namespace ekvi::text {

class WordPieceEncoder : public WordEncoder {
 public:
  WordPieceEncoder(const WordPieceModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}

  void Encode(std::string_view word) override {
    const size_t before = ids_.size();
    const auto continuing = static_cast<size_t>(std::ranges::count_if(word, base::ContinuesCharacter));
    bool written = word.size() - continuing <= model_.options_.characters_max;
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
    size_t bytes = 0;
    int32_t longest = -1;
    uint32_t node = at > 0 ? model_.inner_ : PieceTrie::kRoot;
    for (size_t end = at; end < word.size() && node != PieceTrie::kNowhere;) {
      node = model_.texts_.Step(node, static_cast<uint8_t>(word[end++]));
      const bool whole = end == word.size() || !base::ContinuesCharacter(word[end]);
      if (node == PieceTrie::kNowhere || !whole || model_.texts_.Token(node) < 0) continue;
      longest = model_.texts_.Token(node);
      bytes = end - at;
    }
    if (bytes > 0) ids_.push_back(longest);
    return bytes;
  }

  const WordPieceModel& model_;
  std::vector<int32_t>& ids_;
};

class WordLevelEncoder : public WordEncoder {
 public:
  WordLevelEncoder(const WordLevelModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}

  void Encode(std::string_view word) override {
    const auto id = model_.texts_.Find(word);
    if (!id && !model_.unknown_) {
      throw Error(ErrorCode::kUnsupported, "the vocabulary cannot write " + files::Quote(word),
                  "it has no such word and no unknown token", "text without it, or a model whose vocabulary has it");
    }
    ids_.push_back(id ? *id : *model_.unknown_);
  }

 private:
  const WordLevelModel& model_;
  std::vector<int32_t>& ids_;
};

WordPieceModel::WordPieceModel(WordPieceOptions options, PieceTrie texts)
    : options_(std::move(options)), texts_(std::move(texts)) {
  for (const char c : options_.inner_prefix) {
    if (inner_ != PieceTrie::kNowhere) inner_ = texts_.Step(inner_, static_cast<uint8_t>(c));
  }
}

std::unique_ptr<WordEncoder> WordPieceModel::NewEncoder(size_t, std::vector<int32_t>& ids) const {
  return std::make_unique<WordPieceEncoder>(*this, ids);
}

std::unique_ptr<WordEncoder> WordLevelModel::NewEncoder(size_t, std::vector<int32_t>& ids) const {
  return std::make_unique<WordLevelEncoder>(*this, ids);
}

}  // namespace ekvi::text
