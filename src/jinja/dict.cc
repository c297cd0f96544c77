#include "jinja/dict.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "jinja/failure.h"

namespace ekvi::jinja {
namespace {

// Below, looking at each entry is faster than an index.
constexpr size_t kFewEntries = 8;
constexpr size_t kNowhere = static_cast<size_t>(-1);

std::string NumberKey(double number) {
  if (number == std::floor(number) && std::abs(number) < 0x1p63) {
    return fmt::format("n{}", static_cast<int64_t>(number));
  }
  return fmt::format("f{:x}", std::bit_cast<uint64_t>(number));
}

}  // namespace

std::string HashKey(const Value& key) {
  Step();
  if (key.IsText()) {
    StepBytes(key.text().size() * 4);  // copied, compared, and kept
    return "s" + key.text();
  }
  if (key.IsIntegral()) return fmt::format("n{}", key.integer());
  if (key.IsFloat()) return NumberKey(key.number());
  if (key.IsNone()) return "N";
  if (key.IsUndefined()) return "U";
  if (key.IsObject()) return fmt::format("o{}", static_cast<const void*>(&key.object()));
  if (key.IsIterator()) return fmt::format("i{}", static_cast<const void*>(&key.iterator()));
  if (!key.IsTuple()) Fail(fmt::format("unhashable type: '{}'", TypeName(key)));
  std::string hash = "t";
  for (const Value& item : key.sequence().items) {
    const std::string part = HashKey(item);
    CheckText(hash.size() + part.size());
    StepBytes(part.size() * 2);
    hash += std::to_string(part.size()) + ":";
    hash += part;
  }
  return hash;
}

size_t Dict::IndexOf(const std::string& hash) const {
  if (entries_.size() > kFewEntries) {
    const auto found = index_.find(hash);
    return found == index_.end() ? kNowhere : found->second;
  }
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (HashKey(entries_[i].first) == hash) return i;
  }
  return kNowhere;
}

const Value* Dict::Find(std::string_view key) const {
  if (entries_.size() > kFewEntries) {
    const size_t index = IndexOf("s" + std::string(key));
    return index == kNowhere ? nullptr : &entries_[index].second;
  }
  for (const Entry& entry : entries_) {
    if (entry.first.IsText() && entry.first.text() == key) return &entry.second;
  }
  return nullptr;
}

const Value* Dict::Find(const Value& key) const {
  if (key.IsText()) return Find(key.text());
  const size_t index = IndexOf(HashKey(key));
  return index == kNowhere ? nullptr : &entries_[index].second;
}

void Dict::Set(Value key, Value value) {
  const std::string hash = HashKey(key);
  depth_ = std::max(depth_, 1 + std::max(key.depth(), value.depth()));
  if (depth_ > kMaxValueDepth) Refuse(fmt::format("values nest more than {} deep", kMaxValueDepth));
  const size_t index = IndexOf(hash);
  if (index != kNowhere) {
    entries_[index].second = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() <= kFewEntries) return;
  if (index_.empty()) {
    for (size_t i = 0; i + 1 < entries_.size(); ++i) Index(HashKey(entries_[i].first), i);
  }
  Index(hash, entries_.size() - 1);
}

void Dict::Index(std::string hash, size_t at) {
  Step(6);  // a node of a tree
  key_bytes_ += hash.size();
  CheckRoom(key_bytes_);
  index_.emplace(std::move(hash), at);
}

Items Dict::Keys() const {
  CheckRoom(entries_.size() * sizeof(Value));
  Items items;
  items.reserve(entries_.size());
  for (const Entry& entry : entries_) items.push_back(entry.first);
  return items;
}

Items Dict::Values() const {
  CheckRoom(entries_.size() * sizeof(Value));
  Items items;
  items.reserve(entries_.size());
  for (const Entry& entry : entries_) items.push_back(entry.second);
  return items;
}

Items Dict::Pairs() const {
  CheckRoom(entries_.size() * sizeof(Value));
  Items items;
  items.reserve(entries_.size());
  for (const Entry& entry : entries_) items.push_back(Value::Tuple({entry.first, entry.second}));
  return items;
}

}  // namespace ekvi::jinja
