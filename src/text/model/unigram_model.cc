// Viterbi: for each place, front to back, the best way to reach it. Where no piece is exactly the character that begins
// at a place, the unknown token may take that character. Among equal sums the way found first stays.
#include "text/model/unigram_model.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"

namespace ekvi::text {

class UnigramEncoder : public WordEncoder {
 public:
  UnigramEncoder(const UnigramModel& model, std::vector<int32_t>& ids) : model_(model), ids_(ids) {}

  void Encode(std::string_view word) override {
    best_.assign(word.size() + 1, Node());
    for (size_t at = 0; at < word.size();) {
      const base::Utf8Head head = base::ReadUtf8Head(word.substr(at));
      const size_t bytes = head.kind == base::Utf8Kind::kCharacter ? head.bytes : 1;
      Extend(word, at, bytes);
      at += bytes;
    }
    Append(word);
  }

 private:
  static constexpr int32_t kUnknown = -1;
  static constexpr uint32_t kUnreached = UINT32_MAX;
  struct Node {
    double score = 0;
    int32_t token = kUnknown;
    uint32_t begin = kUnreached;
  };
  struct Part {
    size_t begin, end;
    int32_t token;
  };

  // The ways on from `at`, where a character of `bytes` bytes begins.
  void Extend(std::string_view word, size_t at, size_t bytes) {
    bool single = false;
    uint32_t node = PieceTrie::kRoot;
    for (size_t end = at; end < word.size();) {
      node = model_.texts_.Step(node, static_cast<uint8_t>(word[end++]));
      if (node == PieceTrie::kNowhere) break;
      const int32_t token = model_.texts_.Token(node);
      if (token < 0) continue;
      Reach(end, {best_[at].score + model_.scores_[token], token, static_cast<uint32_t>(at)});
      single |= end - at == bytes;
    }
    if (single) return;
    Reach(at + bytes, {best_[at].score + model_.options_.unknown_score, kUnknown, static_cast<uint32_t>(at)});
  }

  void Reach(size_t place, const Node& node) {
    if (best_[place].begin == kUnreached || node.score > best_[place].score) best_[place] = node;
  }

  void Append(std::string_view word) {
    parts_.clear();
    for (size_t end = word.size(); end > 0;) {
      const Node& node = best_[end];
      const bool joins = node.token == kUnknown && !parts_.empty() && parts_.back().token == kUnknown;
      if (joins) {
        parts_.back().begin = node.begin;
      } else {
        parts_.push_back({node.begin, end, node.token});
      }
      end = node.begin;
    }
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
      if (part->token == kUnknown) {
        AppendUnwritten(word.substr(part->begin, part->end - part->begin));
      } else {
        ids_.push_back(part->token);
      }
    }
  }

  void AppendUnwritten(std::string_view text) {
    if (model_.options_.byte_fallback && AppendByteTokens(model_.byte_tokens_, text, ids_)) return;
    if (!model_.options_.unknown) throw CannotWrite(text, model_.scores_.size());
    ids_.push_back(*model_.options_.unknown);
  }

  const UnigramModel& model_;
  std::vector<int32_t>& ids_;
  std::vector<Node> best_;
  std::vector<Part> parts_;
};

UnigramModel::UnigramModel(UnigramOptions options, PieceTrie texts, std::vector<double> scores,
                           const ByteTokens& byte_tokens)
    : options_(options), texts_(std::move(texts)), scores_(std::move(scores)), byte_tokens_(byte_tokens) {}

std::unique_ptr<WordEncoder> UnigramModel::NewEncoder(size_t, std::vector<int32_t>& ids) const {
  return std::make_unique<UnigramEncoder>(*this, ids);
}

}  // namespace ekvi::text
