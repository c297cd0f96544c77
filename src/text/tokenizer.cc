#include "text/tokenizer.h"

#include <fmt/core.h>

#include "base/utf8.h"
#include "files/reader_error.h"
#include "text/text_stream.h"

namespace ekvi::text {
namespace {

// More tokens than any context holds; bounds the memory of the worst text (one word) to about 3 GiB.
constexpr size_t kTextBytesMax = size_t{64} << 20;

[[noreturn]] void Refuse(const Vocabulary& vocabulary, int32_t token, std::string_view where) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("token id {}{} is outside the vocabulary", token, where),
              fmt::format("ids are 0 to {}", vocabulary.size() - 1),
              "ids that this vocabulary gave: each model has its own");
}

int32_t Checked(const Vocabulary& vocabulary, int32_t token) {
  if (!vocabulary.Contains(token)) Refuse(vocabulary, token, "");
  return token;
}

}  // namespace

Tokenizer::Tokenizer(std::string_view name, Vocabulary vocabulary) : name_(name), vocabulary_(std::move(vocabulary)) {}

std::string Tokenizer::Description() const {
  return fmt::format("{} ({} pieces)", name_, files::Digits(static_cast<uint64_t>(vocabulary_.size())));
}

std::vector<int32_t> Tokenizer::Encode(std::string_view text, const EncodeOptions& options) const {
  if (text.size() > kTextBytesMax) {
    throw Error(ErrorCode::kCapacity, "the text is too long to encode at once",
                fmt::format("{} bytes, at most {}", files::Digits(text.size()), files::Digits(kTextBytesMax)),
                "encode it in parts");
  }
  std::vector<int32_t> ids;
  if (options.begin) ids.assign(vocabulary_.prefix().begin(), vocabulary_.prefix().end());
  EncodeText(text, options, ids);
  return ids;
}

void Tokenizer::AppendBytes(int32_t token, TextPlace& place, std::string& bytes) const {
  AppendToken(Checked(vocabulary_, token), place, bytes);
}

std::string Tokenizer::DecodeBytes(std::span<const int32_t> tokens) const {
  std::string bytes;
  TextPlace place;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (!vocabulary_.Contains(tokens[i])) Refuse(vocabulary_, tokens[i], fmt::format(" at index {}", i));
    AppendToken(tokens[i], place, bytes);
  }
  return bytes;
}

std::string Tokenizer::Decode(std::span<const int32_t> tokens) const {
  std::string text;
  base::Utf8Stream stream;
  stream.Push(DecodeBytes(tokens), text);
  stream.Finish(text);
  return text;
}

std::unique_ptr<TextStream> Tokenizer::NewTextStream(std::span<const int32_t> before) const {
  return text::NewTextStream(*this, before);
}

std::string_view Tokenizer::Piece(int32_t token) const { return vocabulary_.Piece(Checked(vocabulary_, token)); }

bool Tokenizer::IsControl(int32_t token) const {
  return vocabulary_.Kind(Checked(vocabulary_, token)) == PieceKind::kControl;
}

std::vector<std::string_view> Tokenizer::ControlNames() const {
  std::vector<std::string_view> names;
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    const PieceKind kind = vocabulary_.Kind(id);
    const bool on_request = kind == PieceKind::kControl || kind == PieceKind::kUnknown;
    if (on_request && !vocabulary_.Piece(id).empty()) names.push_back(vocabulary_.Piece(id));
  }
  return names;
}

}  // namespace ekvi::text
