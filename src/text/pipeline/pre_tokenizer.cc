#include "text/pipeline/pre_tokenizer.h"

#include <algorithm>

#include "base/check.h"
#include "ekvi/error.h"
#include "text/unicode/byte_alphabet.h"
#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

// What is left of a row behind one of its pre-tokenizers, as that one's sink.
class RestOfRow : public PieceSink {
 public:
  RestOfRow(const std::unique_ptr<const PreTokenizer>* next, size_t count, PieceSink& sink)
      : next_(next), count_(count), sink_(sink) {}

  void Take(Piece piece) override {
    if (count_ == 0) return sink_.Take(piece);
    RestOfRow rest(next_ + 1, count_ - 1, sink_);
    (*next_)->Split(piece, rest);
  }

 private:
  const std::unique_ptr<const PreTokenizer>* next_;
  size_t count_;
  PieceSink& sink_;
};

// Takes the parts of a text in order, matches and what lies between them, and gives on what the behaviour makes of
// them.
class PartJoiner {
 public:
  PartJoiner(Piece piece, CutBehavior behavior, PieceSink& sink) : piece_(piece), behavior_(behavior), sink_(sink) {}

  void Take(size_t begin, size_t end, bool cuts) {
    switch (behavior_) {
      case CutBehavior::kRemoved:
        if (!cuts) Give(begin, end);
        return;
      case CutBehavior::kIsolated:
        return Give(begin, end);
      case CutBehavior::kMergedWithPrevious:
        return Join(begin, end, cuts, cuts && !held_cuts_);
      case CutBehavior::kMergedWithNext:
        return Join(begin, end, cuts, !cuts && held_cuts_);
      case CutBehavior::kContiguous:
        return Join(begin, end, cuts, cuts == held_cuts_);
    }
  }

  void Finish() {
    if (holds_) Give(held_begin_, held_end_);
  }

 private:
  void Join(size_t begin, size_t end, bool cuts, bool joins) {
    if (holds_ && joins) {
      held_end_ = end;
    } else {
      Finish();
      held_begin_ = begin;
      held_end_ = end;
    }
    holds_ = true;
    held_cuts_ = cuts;
  }

  void Give(size_t begin, size_t end) {
    if (begin < end) sink_.Take({piece_.text.substr(begin, end - begin), piece_.first && begin == 0});
  }

  Piece piece_;
  CutBehavior behavior_;
  PieceSink& sink_;
  bool holds_ = false, held_cuts_ = false;
  size_t held_begin_ = 0, held_end_ = 0;
};

}  // namespace

void PreTokenizerRow::Split(Piece piece, PieceSink& sink) const {
  RestOfRow(row_.data(), row_.size(), sink).Take(piece);
}

void Splitter::Split(Piece piece, PieceSink& sink) const {
  PartJoiner joiner(piece, behavior_, sink);
  const bool matches_cut = at_ == CutAt::kMatches;
  Regex::Walk walk;
  size_t done = 0;
  while (const auto match = pattern_->Next(piece.text, walk)) {
    if (done < match->begin) joiner.Take(done, match->begin, !matches_cut);
    joiner.Take(match->begin, match->end, matches_cut);
    done = match->end;
  }
  if (done < piece.text.size()) joiner.Take(done, piece.text.size(), !matches_cut);
  joiner.Finish();
}

std::optional<Regex::Match> LiteralCut::Next(std::string_view text, Regex::Walk& walk) const {
  const size_t begin = text.find(literal_, walk.from);
  walk.from = begin == std::string_view::npos ? text.size() : begin + literal_.size();
  if (begin == std::string_view::npos) return std::nullopt;
  return Regex::Match{begin, walk.from};
}

std::optional<Regex::Match> CharacterCut::Next(std::string_view text, Regex::Walk& walk) const {
  while (walk.from < text.size()) {
    const size_t begin = walk.from;
    const Character character = FirstCharacter(text.substr(begin));
    walk.from += character.bytes;
    if (contains_(character.code)) return Regex::Match{begin, walk.from};
  }
  return std::nullopt;
}

void SpacePrefixer::Split(Piece piece, PieceSink& sink) const {
  if (piece.text.starts_with(' ')) return sink.Take(piece);
  const std::string text = " " + std::string(piece.text);
  sink.Take({text, piece.first});
}

void ByteSpeller::Split(Piece piece, PieceSink& sink) const {
  // Several of them double the bytes of a character each time.
  constexpr size_t kPieceBytesMax = size_t{256} << 20;
  if (piece.text.size() > kPieceBytesMax) {
    throw Error(ErrorCode::kCapacity, "the tokenizer's byte-level steps make too long a text", "more than 256 MiB",
                "encode the text in parts");
  }
  std::string text;
  AppendAsAlphabet(piece.text, text);
  sink.Take({text, piece.first});
}

void Metaspace::Split(Piece piece, PieceSink& sink) const {
  const bool prefix = (prepend_ == Prepend::kAlways || (prepend_ == Prepend::kFirst && piece.first)) &&
                      !piece.text.starts_with(mark_) && !piece.text.starts_with(' ');
  std::string text(prefix ? mark_ : "");
  for (const char c : piece.text) {
    if (c == ' ') {
      text += mark_;
    } else {
      text += c;
    }
  }
  if (cut_ == Cut::kNowhere) return sink.Take({text, piece.first});
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(mark_, begin + 1), text.size());
    sink.Take({std::string_view(text).substr(begin, end - begin), piece.first && begin == 0});
    begin = end;
  }
}

void FixedLength::Split(Piece piece, PieceSink& sink) const {
  EKVI_CHECK(characters_ > 0);
  for (size_t begin = 0; begin < piece.text.size();) {
    size_t end = begin;
    for (size_t i = 0; i < characters_ && end < piece.text.size(); ++i)
      end += FirstCharacter(piece.text.substr(end)).bytes;
    sink.Take({piece.text.substr(begin, end - begin), piece.first && begin == 0});
    begin = end;
  }
}

}  // namespace ekvi::text
