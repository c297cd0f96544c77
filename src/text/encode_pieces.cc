#include "text/encode_pieces.h"

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

enum class Kind { kCharacters, kBroken };

// The bytes at the front of `text` that are characters, or that are none.
size_t RunBytes(std::string_view text, Kind kind) {
  size_t end = 0;
  while (end < text.size()) {
    const base::Utf8Head head = base::ReadUtf8Head(text.substr(end));
    if ((head.kind == base::Utf8Kind::kCharacter) != (kind == Kind::kCharacters)) break;
    end += head.bytes;
  }
  return end;
}

}  // namespace

void EncodePieces(std::string_view text, const PreTokenizer& splitter, WordEncoder& encoder, bool first) {
  EncoderSink sink(encoder);
  if (base::IsUtf8(text)) {
    if (!text.empty()) splitter.Split({text, first}, sink);
    return;
  }
  while (!text.empty()) {
    const size_t characters = RunBytes(text, Kind::kCharacters);
    if (characters > 0) splitter.Split({text.substr(0, characters), first}, sink);
    text.remove_prefix(characters);
    const size_t broken = RunBytes(text, Kind::kBroken);
    if (broken > 0) encoder.Encode(text.substr(0, broken));
    text.remove_prefix(broken);
    first = false;
  }
}

}  // namespace ekvi::text
