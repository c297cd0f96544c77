// A dict: keys and values in the order in which they came.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/value.h"

namespace ekvi::jinja {

// Equal texts for equal keys, whatever their types (1, 1.0 and true are one key). Fails for what Python cannot hash.
std::string HashKey(const Value& key);

class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  // Null where there is none. Fails for a key that cannot be one.
  const Value* Find(const Value& key) const;
  const Value* Find(std::string_view key) const;
  // Adds, or replaces the value and keeps the place.
  void Set(Value key, Value value);

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }
  // Of the texts that the index holds.
  size_t key_bytes() const { return key_bytes_; }
  Items Keys() const;
  Items Values() const;
  Items Pairs() const;  // tuples

 private:
  void Index(std::string hash, size_t at);
  size_t IndexOf(const std::string& hash) const;

  std::vector<Entry> entries_;
  std::map<std::string, size_t, std::less<>> index_;  // by HashKey; only where there are many entries
  int depth_ = 1;
  size_t key_bytes_ = 0;
};

}  // namespace ekvi::jinja
