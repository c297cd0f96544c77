#include "jinja/scope.h"

#include <algorithm>

namespace ekvi::jinja {
namespace {

// Below, looking at each variable is faster than an index.
constexpr size_t kFewVariables = 24;

}  // namespace

const Value* Scope::FindHere(Symbol symbol) const {
  if (values_.size() > kFewVariables) {
    const auto found = index_.find(symbol);
    return found == index_.end() ? nullptr : &values_[found->second].second;
  }
  for (const auto& [each, value] : values_) {
    if (each == symbol) return &value;
  }
  return nullptr;
}

void Scope::Set(Symbol symbol, Value value) {
  if (const Value* found = FindHere(symbol)) {
    const_cast<Value&>(*found) = std::move(value);
    return;
  }
  if (values_.size() == values_.capacity()) {
    const size_t more = std::max<size_t>(values_.capacity(), 2);
    charge_.Add(more * sizeof(values_[0]));
    values_.reserve(values_.capacity() + more);
  }
  if (values_.size() >= kFewVariables) charge_.Add(64);  // a node of the index and its bucket
  values_.emplace_back(symbol, std::move(value));
  if (values_.size() <= kFewVariables) return;
  if (index_.empty()) {
    for (size_t i = 0; i < values_.size(); ++i) index_.emplace(values_[i].first, i);
  } else {
    index_.emplace(symbol, values_.size() - 1);
  }
}

}  // namespace ekvi::jinja
