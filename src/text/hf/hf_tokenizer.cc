#include "text/hf/hf_tokenizer.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/pipeline/encode_pieces.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

// The way of one text through the parts.
class TextEncoder {
 public:
  TextEncoder(const HfTokenizerParts& parts, const EncodeOptions& options, WordEncoder& encoder,
              std::vector<int32_t>& ids)
      : parts_(parts), options_(options), encoder_(encoder), ids_(ids) {}

  void Encode(std::string_view text, bool first) {
    const char* const begin = text.data();
    for (const TextPart& part : parts_.raw.Split(text, options_.special, options_.plain)) {
      if (part.token) {
        ids_.push_back(*part.token);
      } else {
        EncodeAround(part.text, first && part.text.data() == begin);
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
  // Special tokens that are looked for in normalized text, where places are others: it is cut where others' parts end.
  void EncodeAround(std::string_view text, bool first) {
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto encode_to = [&](const char* to, bool special) {
      if (to > at) EncodePart({at, static_cast<size_t>(to - at)}, first && at == text.data(), special);
      at = std::max(at, to);
    };
    const bool cut = options_.special && parts_.normalized.has_special();
    for (const std::string_view plain : cut ? options_.plain : std::span<const std::string_view>()) {
      if (plain.data() + plain.size() <= at || plain.data() >= end) continue;
      encode_to(plain.data(), true);
      encode_to(std::min(end, plain.data() + plain.size()), false);
    }
    encode_to(end, options_.special);
  }

  void EncodePart(std::string_view text, bool first, bool special) {
    if (parts_.normalizer == nullptr) return EncodeNormalized(text, first, special);
    std::string normalized(text);
    parts_.normalizer->Apply(normalized);
    EncodeNormalized(normalized, first, special);
  }

  void EncodeNormalized(std::string_view text, bool first, bool special) {
    for (const TextPart& part : parts_.normalized.Split(text, special)) {
      if (part.token) {
        ids_.push_back(*part.token);
      } else {
        EncodePieces(part.text, *parts_.splitter, encoder_, first && part.text.data() == text.data());
      }
    }
  }

  const HfTokenizerParts& parts_;
  const EncodeOptions& options_;
  WordEncoder& encoder_;
  std::vector<int32_t>& ids_;
};

}  // namespace

HfTokenizer::HfTokenizer(std::string_view name, Vocabulary vocabulary, HfTokenizerParts parts)
    : Tokenizer(name, std::move(vocabulary)), parts_(std::move(parts)) {}

void HfTokenizer::EncodeText(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& ids) const {
  const auto encoder = parts_.model->NewEncoder(text.size(), ids);
  TextEncoder way(parts_, options, *encoder, ids);
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
