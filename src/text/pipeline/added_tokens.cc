#include "text/pipeline/added_tokens.h"

#include <algorithm>

#include "text/unicode/characters.h"

namespace ekvi::text {
namespace {

bool StandsAlone(std::string_view text, size_t begin, size_t end) {
  const bool left = begin == 0 || !IsWord(LastCharacter(text.substr(0, begin)).code);
  return left && (end == text.size() || !IsWord(FirstCharacter(text.substr(end)).code));
}

// Where the blanks in front of `begin` begin, not before `least`.
size_t BlanksBefore(std::string_view text, size_t begin, size_t least) {
  while (begin > least) {
    const Character character = LastCharacter(text.substr(0, begin));
    if (!IsWhiteSpace(character.code)) break;
    begin -= character.bytes;
  }
  return begin;
}

size_t BlanksBehind(std::string_view text, size_t end) {
  while (end < text.size()) {
    const Character character = FirstCharacter(text.substr(end));
    if (!IsWhiteSpace(character.code)) break;
    end += character.bytes;
  }
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  begins_.fill(false);
  for (size_t i = tokens_.size(); i-- > 0;) {
    const std::string& content = tokens_[i].content;
    if (content.empty()) continue;
    trie_.Add(content, static_cast<int32_t>(i));
    begins_[static_cast<unsigned char>(content[0])] = true;
  }
}

bool AddedTokens::has_special() const { return std::ranges::any_of(tokens_, &AddedToken::special); }

std::vector<TextPart> AddedTokens::Split(std::string_view text, bool special,
                                         std::span<const std::string_view> plain) const {
  std::vector<TextPart> parts;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    if (!begins_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const AddedToken* longest = nullptr;
    size_t end = at, covered = at;
    uint32_t node = PieceTrie::kRoot;
    for (size_t i = at; i < text.size(); ++i) {
      node = trie_.Step(node, static_cast<uint8_t>(text[i]));
      if (node == PieceTrie::kNowhere) break;
      if (trie_.Token(node) < 0) continue;
      const AddedToken& token = tokens_[trie_.Token(node)];
      covered = i + 1;
      if (token.special && ReachesInto(plain, text.substr(at, covered - at))) continue;
      longest = &token, end = covered;
    }
    if (longest == nullptr) {
      at = std::max(at + 1, covered);
      continue;
    }
    const size_t begin = at;
    at = end;
    if (longest->special && !special) continue;
    if (longest->single_word && !StandsAlone(text, begin, end)) continue;
    const size_t taken = longest->lstrip ? std::max(BlanksBefore(text, begin, done), done) : begin;
    if (done < taken) parts.push_back({text.substr(done, taken - done), {}});
    done = longest->rstrip ? BlanksBehind(text, std::max(end, done)) : end;
    parts.push_back({text.substr(begin, end - begin), longest->id});
  }
  if (done < text.size()) parts.push_back({text.substr(done), {}});
  return parts;
}

}  // namespace ekvi::text
