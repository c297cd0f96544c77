#include "text/pipeline/decode_steps.h"

#include <utility>

#include "base/utf8.h"
#include "ekvi/error.h"
#include "text/unicode/byte_alphabet.h"
#include "text/vocabulary/vocabulary.h"

namespace ekvi::text {
namespace {

// Pieces have at most 4,096 bytes; steps that each double them would fill memory.
constexpr size_t kTokenBytesMax = size_t{1} << 20;

void ReplaceAll(std::string_view from, std::string_view to, std::string& text) {
  size_t done = 0, at = text.find(from);
  if (at == std::string::npos) return;
  std::string replaced;
  for (; at != std::string::npos; at = text.find(from, done)) {
    replaced.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  text = replaced.append(text, done);
}

// The bytes of up to `most` times `part` that `text` begins with.
size_t FrontOf(std::string_view text, std::string_view part, uint32_t most) {
  size_t bytes = 0;
  for (; most > 0 && text.substr(bytes).starts_with(part); --most) bytes += part.size();
  return bytes;
}

}  // namespace

ReplaceStep::ReplaceStep(std::unique_ptr<const CutPattern> pattern, std::string content)
    : pattern_(std::move(pattern)), content_(std::move(content)) {}

void ReplaceStep::Apply(std::string& text, TextPlace&) const {
  if (!base::IsUtf8(text)) return;  // a part of a character: no pattern matches it
  std::string replaced;
  Regex::Walk walk;
  size_t done = 0;
  while (const auto match = pattern_->Next(text, walk)) {
    if (replaced.size() + content_.size() > kTokenBytesMax) {
      throw Error(ErrorCode::kUnsupported, "the tokenizer's decoder makes too long a text of one token",
                  "more than 1 MiB", "another tokenizer: this one multiplies text");
    }
    replaced.append(text, done, match->begin - done).append(content_);
    done = match->end;
  }
  text = replaced.append(text, done);
}

void ByteFallbackStep::Apply(std::string& text, TextPlace&) const {
  if (const auto byte = ByteOfPiece(text)) text.assign(1, static_cast<char>(*byte));
}

void ByteLevelStep::Apply(std::string& text, TextPlace&) const {
  if (auto bytes = BytesOfPiece(text)) text = std::move(*bytes);
}

void MetaspaceStep::Apply(std::string& text, TextPlace& place) const {
  ReplaceAll(mark_, place.start && first_ == First::kDropsMarks ? "" : " ", text);
}

void StripStep::Apply(std::string& text, TextPlace&) const {
  text.erase(0, FrontOf(text, content_, start_));
  for (uint32_t i = 0; i < stop_ && text.ends_with(content_); ++i) text.resize(text.size() - content_.size());
}

void StripTextStep::Apply(std::string& text, TextPlace& place) const {
  const size_t bytes = FrontOf(text, content_, start_ - place.stripped);
  text.erase(0, bytes);
  place.stripped += static_cast<uint32_t>(bytes / content_.size());
  if (!text.empty()) place.stripped = start_;
}

void WordPieceStep::Apply(std::string& text, TextPlace& place) const {
  if (!place.start) {
    if (text.starts_with(prefix_)) {
      text.erase(0, prefix_.size());
    } else {
      text.insert(0, " ");
    }
  }
  if (tidy_ == Tidy::kNo) return;
  static constexpr std::pair<std::string_view, std::string_view> kTidied[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kTidied) ReplaceAll(from, to, text);
}

void WordEndStep::Apply(std::string& text, TextPlace& place) const {
  const bool ends_word = text.ends_with(suffix_);
  if (ends_word) text.resize(text.size() - suffix_.size());
  ReplaceAll(suffix_, " ", text);
  if (std::exchange(place.space_pending, ends_word)) text.insert(0, " ");
}

void SpacesBetween::Apply(std::string& text, TextPlace& place) const {
  if (!place.start) text.insert(0, " ");
}

}  // namespace ekvi::text
