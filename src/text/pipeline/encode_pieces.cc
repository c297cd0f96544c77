#include "text/pipeline/encode_pieces.h"

#include "base/utf8.h"

namespace ekvi::text {
namespace {

class EncoderSink : public PieceSink {
 public:
  explicit EncoderSink(WordEncoder& encoder) : encoder_(encoder) {}
  void Take(Piece piece) override { encoder_.Encode(piece.text); }

 private:
  WordEncoder& encoder_;
};

}  // namespace

void EncodePieces(std::string_view text, const PreTokenizer& splitter, WordEncoder& encoder, bool first) {
  if (text.empty()) return;
  EncoderSink sink(encoder);
  splitter.Split({text, first}, sink);
}

std::vector<Utf8Run> Utf8Runs(std::string_view text) {
  std::vector<Utf8Run> runs;
  if (base::IsUtf8(text)) {
    if (!text.empty()) runs.push_back({text, true});
    return runs;
  }
  for (size_t at = 0, begin = 0; at < text.size();) {
    const base::Utf8Head head = base::ReadUtf8Head(text.substr(at));
    const bool valid = head.kind == base::Utf8Kind::kCharacter;
    if (runs.empty() || runs.back().valid != valid) runs.push_back({text.substr(begin = at, 0), valid});
    at += head.bytes;
    runs.back().text = text.substr(begin, at - begin);
  }
  return runs;
}

}  // namespace ekvi::text
