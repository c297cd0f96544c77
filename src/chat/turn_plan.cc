#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ekvi/conversation.h"

namespace ekvi {
namespace {

// What a token writes; of a control token its id, in bytes that no text has. A piece in angle brackets may be a byte
// (<0xE2>) or no text at all (<unk>), which the same characters in other pieces are not: it equals itself only.
std::string Spelling(const Tokenizer& tokenizer, int32_t token) {
  const std::string_view piece = tokenizer.Piece(token);
  const bool bracketed = piece.size() > 2 && piece.front() == '<' && piece.back() == '>';
  return bracketed || tokenizer.IsControl(token) ? fmt::format("\xFF{}\xFF", token) : std::string(piece);
}

// The index in `rendered` after the tokens that spell what cached[common:] spells; nothing where there is none.
std::optional<size_t> SameText(const Tokenizer& tokenizer, std::span<const int32_t> cached,
                               std::span<const int32_t> rendered, size_t common) {
  std::string text, other;
  for (const int32_t token : cached.subspan(common)) text += Spelling(tokenizer, token);
  for (size_t i = common; i < rendered.size() && other.size() < text.size(); ++i) {
    other += Spelling(tokenizer, rendered[i]);
    if (other == text) return i + 1;
  }
  return text.empty() ? std::optional(common) : std::nullopt;
}

}  // namespace

TurnPlan PlanTurn(const Tokenizer& tokenizer, std::span<const int32_t> cached, std::vector<int32_t> rendered) {
  const auto [end, other] = std::mismatch(cached.begin(), cached.end(), rendered.begin(), rendered.end());
  auto common = static_cast<size_t>(end - cached.begin());
  const auto after = SameText(tokenizer, cached, rendered, common);
  if (after && *after < rendered.size()) {
    rendered.erase(rendered.begin(), rendered.begin() + static_cast<std::ptrdiff_t>(*after));
    return {.tokens = std::move(rendered), .kept = static_cast<int64_t>(cached.size()), .dropped = 0};
  }
  if (common == rendered.size() && common > 0) --common;
  rendered.erase(rendered.begin(), rendered.begin() + static_cast<std::ptrdiff_t>(common));
  return {.tokens = std::move(rendered),
          .kept = static_cast<int64_t>(common),
          .dropped = static_cast<int64_t>(cached.size() - common)};
}

}  // namespace ekvi
