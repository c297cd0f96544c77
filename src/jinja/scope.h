// Variables of one part of a template: the whole, a loop's body, a macro's call. What is not here is looked up outside.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jinja/ast.h"
#include "jinja/value.h"

namespace ekvi::jinja {

class Scope {
 public:
  explicit Scope(std::shared_ptr<Scope> outer = nullptr) : outer_(std::move(outer)), charge_(128) {}

  // Here or outside; null where there is none.
  const Value* Find(Symbol symbol) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_.get()) {
      if (const Value* value = scope->FindHere(symbol)) return value;
    }
    return nullptr;
  }

  void Set(Symbol symbol, Value value);
  // Forgets all, also what is outside.
  void Clear() {
    Reset();
    outer_.reset();
  }
  // Forgets its variables.
  void Reset() {
    values_.clear();
    index_.clear();
  }

 private:
  const Value* FindHere(Symbol symbol) const;

  std::shared_ptr<Scope> outer_;
  std::vector<std::pair<Symbol, Value>> values_;
  std::unordered_map<Symbol, size_t> index_;  // only where there are many
  Charge charge_;
};

}  // namespace ekvi::jinja
