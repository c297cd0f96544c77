#include "text/hf/hf_tokenizer.h"

#include "base/utf8.h"
#include "text/pipeline/encode_pieces.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

// The way of one text through the parts.
class TextEncoder {
 public:
  TextEncoder(const HfTokenizerParts& parts, bool special, WordEncoder& encoder, std::vector<int32_t>& ids)
      : parts_(parts), special_(special), encoder_(encoder), ids_(ids) {}

  void Encode(std::string_view text, bool first) {
    const char* const begin = text.data();
    for (const TextPart& part : parts_.raw.Split(text, special_)) {
      if (part.token) {
        ids_.push_back(*part.token);
      } else {
        EncodePart(part.text, first && part.text.data() == begin);
      }
    }
  }

  void EncodeBroken(std::string_view bytes) {
    if (!parts_.spells_bytes) return encoder_.Encode(bytes);
    std::string spelt;
    AppendAsAlphabet(bytes, spelt);
    encoder_.Encode(spelt);
  }

 private:
  void EncodePart(std::string_view text, bool first) {
    if (parts_.normalizer == nullptr) return EncodeNormalized(text, first);
    std::string normalized(text);
    parts_.normalizer->Apply(normalized);
    EncodeNormalized(normalized, first);
  }

  void EncodeNormalized(std::string_view text, bool first) {
    for (const TextPart& part : parts_.normalized.Split(text, special_)) {
      if (part.token) {
        ids_.push_back(*part.token);
      } else {
        EncodePieces(part.text, *parts_.splitter, encoder_, first && part.text.data() == text.data());
      }
    }
  }

  const HfTokenizerParts& parts_;
  bool special_;
  WordEncoder& encoder_;
  std::vector<int32_t>& ids_;
};

}  // namespace

HfTokenizer::HfTokenizer(std::string_view name, Vocabulary vocabulary, HfTokenizerParts parts)
    : Tokenizer(name, std::move(vocabulary)), parts_(std::move(parts)) {}

void HfTokenizer::EncodeText(std::string_view text, bool special, std::vector<int32_t>& ids) const {
  const auto encoder = parts_.model->NewEncoder(text.size(), ids);
  TextEncoder way(parts_, special, *encoder, ids);
  bool first = true;
  for (const Utf8Run& run : Utf8Runs(text)) {
    if (run.valid) {
      way.Encode(run.text, first);
    } else {
      way.EncodeBroken(run.text);
    }
    first = false;
  }
}

void HfTokenizer::AppendToken(int32_t token, TextPlace& place, std::string& bytes) const {
  const PieceKind kind = vocabulary().Kind(token);
  if (kind == PieceKind::kControl) return;
  if (kind == PieceKind::kUnknown) {
    bytes += base::kReplacementCharacter;
  } else {
    const auto written = parts_.written.find(token);
    std::string text(written == parts_.written.end() ? vocabulary().Piece(token) : written->second);
    for (const auto& step : parts_.decoder) step->Apply(text, place);
    bytes += text;
  }
  place.start = false;
}

}  // namespace ekvi::text
