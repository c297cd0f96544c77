// For tests: small vocabularies written down in a line, and text to try them with.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/utf8.h"
#include "files/gguf.h"
#include "text/gguf/spm_tokenizer.h"
#include "text/tokenizer.h"

namespace ekvi::text {

struct TestPiece {
  std::string text;
  float score = 0;
  PieceKind kind = PieceKind::kNormal;
};

inline TestPiece Control(std::string text) { return {std::move(text), 0, PieceKind::kControl}; }
inline TestPiece UserDefined(std::string text) { return {std::move(text), 0, PieceKind::kUserDefined}; }

// Pieces 0 to 2 are "<unk>", "<s>", "</s>"; then, where wanted, 256 byte pieces; then `pieces`.
struct TestVocabulary {
  std::vector<TestPiece> pieces;
  bool bytes = true;
  bool space_prefix = true;

  int32_t FirstId() const { return bytes ? 259 : 3; }

  Vocabulary Build() const {
    std::vector<TestPiece> all = {{"<unk>", 0, PieceKind::kUnknown}, Control("<s>"), Control("</s>")};
    static constexpr char kHex[] = "0123456789ABCDEF";
    for (int i = 0; bytes && i < 256; ++i) {
      all.push_back({std::string("<0x") + kHex[i >> 4] + kHex[i & 15] + ">", 0, PieceKind::kByte});
    }
    all.insert(all.end(), pieces.begin(), pieces.end());
    VocabularyParts parts;
    std::vector<std::string_view> texts;
    for (const TestPiece& piece : all) {
      texts.push_back(piece.text);
      parts.scores.push_back(piece.score);
      parts.kinds.push_back(piece.kind);
    }
    parts.pieces = Pieces(texts);
    parts.unknown = 0;
    parts.begin = 1;
    parts.ends = {2};
    parts.add_begin = true;
    parts.add_space_prefix = space_prefix;
    return Vocabulary(std::move(parts));
  }

  std::unique_ptr<Tokenizer> Make() const { return std::make_unique<SpmTokenizer>(Build()); }
};

inline std::unique_ptr<Tokenizer> OpenTokenizer(const std::filesystem::path& file) {
  return LoadTokenizer(files::GgufFile::Open(file));
}

inline std::string RandomBytes(base::Random& random, size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random.Bits());
  return bytes;
}

// Valid UTF-8 of all lengths, spaces and line ends often, U+2581 never (it comes back as a space).
inline std::string RandomText(base::Random& random, size_t characters) {
  std::string text;
  for (size_t i = 0; i < characters; ++i) {
    static constexpr uint32_t kBelow[] = {0x80, 0x80, 0x80, 0x800, 0x10000, 0x110000};
    const uint32_t below = kBelow[random.Below(std::size(kBelow))];
    const auto code = static_cast<uint32_t>(random.Below(below));
    const bool blank = random.Below(4) == 0;
    if (blank || (code >= 0xD800 && code < 0xE000) || code == 0x2581) {
      text += random.Below(8) == 0 ? '\n' : ' ';
    } else {
      base::AppendCharacter(code, text);
    }
  }
  return text;
}

}  // namespace ekvi::text
