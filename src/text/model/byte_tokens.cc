#include "text/model/byte_tokens.h"

#include <fmt/core.h>

#include <algorithm>

#include "files/reader_error.h"

namespace ekvi::text {

bool AppendByteTokens(const ByteTokens& tokens, std::string_view text, std::vector<int32_t>& ids) {
  const auto token_of = [&](char c) { return tokens[static_cast<uint8_t>(c)]; };
  if (std::ranges::any_of(text, [&](char c) { return token_of(c) < 0; })) return false;
  for (const char c : text) ids.push_back(token_of(c));
  return true;
}

Error CannotWrite(std::string_view text, size_t vocabulary_size) {
  return Error(ErrorCode::kUnsupported, fmt::format("the vocabulary cannot write {}", files::Quote(text)),
               fmt::format("{} tokens, none for it, no unknown token", files::Digits(vocabulary_size)),
               "text without it, or a model whose vocabulary has it");
}

}  // namespace ekvi::text
