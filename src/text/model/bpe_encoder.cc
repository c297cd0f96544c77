// The words of a text come again and again: their ids are copied from where they stood before. Most others are single
// tokens: looked up, and joined only the first time, to see that joining gives that token. The rest is joined: short
// words in an array that is searched for the best pair and closed up after each join, long ones with a linked list and
// a heap of candidate pairs, at most three entries a symbol.
#include "text/model/bpe_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/utf8.h"
#include "text/unicode/byte_alphabet.h"

namespace ekvi::text {
namespace {

// Below, closing up an array is cheaper than a heap; measured on random words, both are equal at 30 to 60 symbols.
constexpr size_t kShortWord = 40;
// Slots of the words seen: one for each 16 bytes of text, from a page of text on; a mebibyte of them stays in a cache.
constexpr size_t kSeenText = 4096, kSeenSlotsMax = size_t{1} << 15;

}  // namespace

BpeEncoder::BpeEncoder(const BpeModel& model, size_t text_bytes, std::vector<int32_t>& ids) : model_(model), ids_(ids) {
  if (text_bytes >= kSeenText) seen_.resize(std::min(std::bit_ceil(text_bytes / 16), kSeenSlotsMax));
}

BpeEncoder::Seen* BpeEncoder::SlotOf(std::string_view word) {
  if (seen_.empty() || word.size() > Seen::kBytesMax) return nullptr;
  uint64_t hash = word.size();
  const auto mix = [&hash](uint64_t part) { hash = (std::rotl(hash, 5) ^ part) * 0x9E3779B97F4A7C15u; };
  size_t at = 0;
  for (; at + 8 <= word.size(); at += 8) {
    uint64_t part;
    std::memcpy(&part, word.data() + at, 8);
    mix(part);
  }
  for (; at < word.size(); ++at) mix(static_cast<unsigned char>(word[at]));
  return &seen_[(hash >> 40) & (seen_.size() - 1)];
}

void BpeEncoder::Encode(std::string_view word) {
  Seen* const slot = SlotOf(word);
  const bool hit = slot != nullptr && slot->count > 0 && std::string_view(slot->word, slot->bytes) == word;
  if (hit) {
    if (slot->count == 1) return ids_.push_back(ids_[slot->begin]);
    for (size_t i = 0; i < slot->count; ++i) ids_.push_back(ids_[slot->begin + i]);
    return;
  }
  const size_t begin = ids_.size();
  if (!EncodeWhole(word)) EncodeUnseen(word);
  // Affixes of byte tokens may make more ids of a short word than a slot counts.
  if (slot == nullptr || begin > UINT32_MAX || ids_.size() - begin > UINT16_MAX) return;
  slot->begin = static_cast<uint32_t>(begin);
  slot->count = static_cast<uint16_t>(ids_.size() - begin);
  slot->bytes = static_cast<uint8_t>(word.size());
  std::memcpy(slot->word, word.data(), word.size());
}

bool BpeEncoder::EncodeWhole(std::string_view word) {
  const auto whole = model_.texts_.Find(word);
  if (!whole) return false;
  auto& known = model_.whole_[*whole];
  if (model_.options_.ignore_merges || known.load(std::memory_order_relaxed) == BpeModel::Whole::kYes) {
    ids_.push_back(*whole);
    return true;
  }
  if (known.load(std::memory_order_relaxed) == BpeModel::Whole::kNo) return false;
  const size_t begin = ids_.size();
  EncodeUnseen(word);
  const bool same = ids_.size() == begin + 1 && ids_.back() == *whole;
  known.store(same ? BpeModel::Whole::kYes : BpeModel::Whole::kNo, std::memory_order_relaxed);
  return true;
}

void BpeEncoder::EncodeUnseen(std::string_view word) {
  word_.clear();
  if (model_.options_.bytes) {
    CutBytes(word);
  } else {
    CutCharacters(word);
  }
  FlushUnknown();
  if (word_.size() <= kShortWord) {
    MergeShort();
  } else {
    MergeLong();
  }
  if (!model_.options_.between.empty()) TakeApart();
  ids_.insert(ids_.end(), word_.begin(), word_.end());
}

void BpeEncoder::TakeApart() {
  const auto size = static_cast<int32_t>(model_.whole_.size());
  std::vector<int32_t> apart;
  for (const int32_t id : word_) {
    if (id < size) {
      apart.push_back(id);
      continue;
    }
    for (const char c : model_.options_.between[static_cast<size_t>(id - size)]) {
      apart.push_back(model_.symbols_[static_cast<uint8_t>(c)]);
    }
  }
  word_ = std::move(apart);
}

void BpeEncoder::CutBytes(std::string_view word) {
  for (const char c : word) {
    const auto byte = static_cast<uint8_t>(c);
    const int32_t id = model_.symbols_[byte];
    if (id < 0) {
      AppendUnwritten(CharacterOfByte(byte));
    } else {
      FlushUnknown();
      word_.push_back(id);
    }
  }
}

void BpeEncoder::CutCharacters(std::string_view word) {
  for (size_t at = 0; at < word.size();) {
    const base::Utf8Head head = base::ReadUtf8Head(word.substr(at));
    const size_t bytes = head.kind == base::Utf8Kind::kCharacter ? head.bytes : 1;
    const std::string_view symbol = Affixed(word.substr(at, bytes), at, word.size());
    const auto first = static_cast<unsigned char>(symbol[0]);
    const int32_t id =
        symbol.size() == 1 && first < 0x80 ? model_.symbols_[first] : model_.texts_.Find(symbol).value_or(-1);
    if (id < 0) {
      AppendUnwritten(symbol);
    } else {
      FlushUnknown();
      word_.push_back(id);
    }
    at += bytes;
  }
}

std::string_view BpeEncoder::Affixed(std::string_view character, size_t at, size_t word_bytes) {
  const bool prefixed = at > 0 && !model_.options_.word_prefix.empty();
  const bool suffixed = at + character.size() == word_bytes && !model_.options_.word_suffix.empty();
  if (!prefixed && !suffixed) return character;
  affixed_ = prefixed ? model_.options_.word_prefix : "";
  affixed_ += character;
  if (suffixed) affixed_ += model_.options_.word_suffix;
  return affixed_;
}

void BpeEncoder::AppendUnwritten(std::string_view symbol) {
  if (model_.options_.byte_fallback && AppendByteTokens(model_.byte_tokens_, symbol, word_)) return;
  if (!model_.options_.unknown) throw CannotWrite(symbol, model_.whole_.size());
  if (!model_.options_.fuse_unknown) FlushUnknown();
  ++unknown_pending_;
}

void BpeEncoder::FlushUnknown() {
  if (unknown_pending_ > 0) word_.push_back(*model_.options_.unknown);
  unknown_pending_ = 0;
}

void BpeEncoder::MergeShort() {
  BpeJoin pairs[kShortWord];
  size_t count = word_.size();
  int32_t* const ids = word_.data();
  for (size_t i = 0; i + 1 < count; ++i) pairs[i] = model_.merges_.Find(ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) {
      if (pairs[i].rank < pairs[best].rank) best = i;
    }
    if (pairs[best].rank == BpeJoin::kNone) break;
    ids[best] = pairs[best].result;
    std::copy(ids + best + 2, ids + count, ids + best + 1);
    if (best + 2 < count) std::copy(pairs + best + 2, pairs + count - 1, pairs + best + 1);
    --count;
    if (best > 0) pairs[best - 1] = model_.merges_.Find(ids[best - 1], ids[best]);
    if (best + 1 < count) pairs[best] = model_.merges_.Find(ids[best], ids[best + 1]);
  }
  word_.resize(count);
}

void BpeEncoder::Propose(int32_t left) {
  if (left < 0 || symbols_[left].next < 0) return;
  const int32_t left_id = symbols_[left].id, right_id = symbols_[symbols_[left].next].id;
  const BpeJoin merge = model_.merges_.Find(left_id, right_id);
  if (merge.rank == BpeJoin::kNone) return;
  queue_.push_back({merge.rank, left, right_id, left_id, merge.result});
  std::push_heap(queue_.begin(), queue_.end());
}

void BpeEncoder::MergeLong() {
  const auto count = static_cast<int32_t>(word_.size());
  symbols_.clear();
  queue_.clear();
  for (int32_t i = 0; i < count; ++i) symbols_.push_back({word_[i], i - 1, i + 1 < count ? i + 1 : -1});
  for (int32_t i = 0; i < count; ++i) Propose(i);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    const Candidate best = queue_.back();
    queue_.pop_back();
    Symbol& left = symbols_[best.left];
    if (left.id != best.left_id || left.next < 0 || symbols_[left.next].id != best.right_id) continue;
    Symbol& right = symbols_[left.next];
    left.id = best.result;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbols_[left.next].previous = best.left;
    Propose(left.previous);
    Propose(best.left);
  }
  word_.clear();
  for (const Symbol& symbol : symbols_) {
    if (symbol.id >= 0) word_.push_back(symbol.id);
  }
}

}  // namespace ekvi::text
