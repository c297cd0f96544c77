// The hash table of this layer: whole numbers to small values, with open addressing.
//
// Each table is keyed with numbers drawn when it is made, so that no file can make its entries collide. What is found
// does not depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ekvi::text {

// What places in a table come from, and hashes of texts.
class HashKey {
 public:
  HashKey();
  uint64_t Of(uint64_t number) const { return Fold(number ^ key_, factor_); }

  // The two halves of the 128-bit product, folded.
  static uint64_t Fold(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

 private:
  uint64_t key_, factor_;
};

// `kFree` is a value that no entry has. 1.7 times the bytes of the entries that there is room for.
template <typename Key, typename Value, Value kFree>
class KeyedTable {
 public:
  // Room for `count` entries; for more it grows to twice the size each time.
  explicit KeyedTable(size_t count = 0) : slots_(SlotsFor(count)) {}

  // The value of the entry of this key that `accepts` takes; nullptr: none.
  template <typename Accepts>
  const Value* Find(Key key, Accepts accepts) const {
    for (size_t at = Place(key);; at = at + 1 == slots_.size() ? 0 : at + 1) {
      const Slot& slot = slots_[at];
      if (slot.value == kFree) return nullptr;
      if (slot.key == key && accepts(slot.value)) return &slot.value;
    }
  }
  const Value* Find(Key key) const {
    return Find(key, [](const Value&) { return true; });
  }

  // Gives the entry that Find would find this value, or adds one.
  template <typename Accepts>
  void Set(Key key, Value value, Accepts accepts) {
    if (const Value* const found = Find(key, accepts)) {
      *const_cast<Value*>(found) = value;
      return;
    }
    if (SlotsFor(++count_) > slots_.size()) Grow();
    Put(key, value);
  }
  void Set(Key key, Value value) {
    Set(key, value, [](const Value&) { return true; });
  }

 private:
  struct Slot {
    Key key = 0;
    Value value = kFree;
  };

  // Three of five are taken at most: a key that is not there is then missed after four looks, on average.
  static size_t SlotsFor(size_t count) { return count + count / 3 * 2 + 4; }
  size_t Place(Key key) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<size_t>((static_cast<Wide>(hash_.Of(key)) * slots_.size()) >> 64);
  }
  void Put(Key key, Value value) {
    size_t at = Place(key);
    while (slots_[at].value != kFree) at = at + 1 == slots_.size() ? 0 : at + 1;
    slots_[at] = {key, value};
  }
  void Grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(SlotsFor(2 * count_)));
    for (const Slot& slot : old) {
      if (slot.value != kFree) Put(slot.key, slot.value);
    }
  }

  HashKey hash_;
  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace ekvi::text
