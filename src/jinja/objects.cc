#include "jinja/objects.h"

#include <fmt/format.h>

#include "jinja/failure.h"
#include "jinja/operators.h"
#include "jinja/repr.h"

namespace ekvi::jinja {

std::string NamespaceObject::Repr() const {
  struct Nested {
    Nested() {
      if (Meter* meter = Meter::Current()) meter->Enter();
    }
    ~Nested() {
      if (Meter* meter = Meter::Current()) meter->Leave();
    }
  };
  const Nested nested;  // it may hold itself
  std::string text = "<Namespace {";
  const char* separator = "";
  for (const auto& [key, value] : values_.entries()) {
    Append(text, separator);
    Append(text, jinja::Repr(key));
    Append(text, ": ");
    Append(text, jinja::Repr(value));
    separator = ", ";
  }
  return text + "}>";
}

std::optional<Value> NamespaceObject::Attribute(std::string_view name) {
  const Value* value = values_.Find(name);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string MacroObject::Repr() const { return fmt::format("<Macro {}>", ReprText(macro_.text)); }

std::optional<Value> MacroObject::Attribute(std::string_view name) {
  if (name == "name") return Value::Of(macro_.text);
  if (name == "caller") return Value::Of(macro_.signature.uses_caller);
  if (name == "catch_kwargs") return Value::Of(macro_.signature.uses_kwargs);
  if (name == "catch_varargs") return Value::Of(macro_.signature.uses_varargs);
  if (name != "arguments") return std::nullopt;
  Items names;
  for (const std::string& each : macro_.signature.names) names.push_back(Value::Of(each));
  return Value::Tuple(std::move(names));
}

Value MacroObject::Call(Renderer& renderer, CallArguments& arguments) {
  return renderer.CallMacro(macro_, definition_, arguments);
}

LoopObject::LoopObject(Renderer& renderer, const Statement& loop, std::shared_ptr<Scope> outer, Items items, int depth)
    : renderer_(renderer),
      loop_(loop),
      outer_(std::move(outer)),
      items_(std::move(items)),
      conditional_(loop.expressions[1] != nullptr),
      depth_(depth),
      charge_(256 + items_.capacity() * sizeof(Value)) {}

std::optional<Value> LoopObject::Pull() {
  while (next_ < items_.size()) {
    Value item = items_[next_++];
    if (!conditional_ || renderer_.PassesCondition(loop_, outer_, item)) return item;
  }
  return std::nullopt;
}

const std::optional<Value>& LoopObject::Peek() {
  if (!after_) after_ = Pull();
  return after_;
}

bool LoopObject::Advance() {
  std::optional<Value> next = after_ ? std::move(after_) : Pull();
  after_.reset();
  if (!next) return false;
  ++index_;
  before_ = std::exchange(item_, std::move(*next));
  return true;
}

void LoopObject::End() {
  if (!length_ && !conditional_) length_ = static_cast<int64_t>(items_.size());
  ended_ = true;
  items_.clear();
  next_ = 0;
  after_.reset();
  last_changed_.reset();
  before_ = item_ = Value();
  outer_.reset();
}

int64_t LoopObject::length() {
  if (length_) return *length_;
  if (conditional_) {
    Items rest;
    while (auto item = Pull()) rest.push_back(std::move(*item));
    items_ = std::move(rest);
    next_ = 0;
    conditional_ = false;
    length_ = static_cast<int64_t>(items_.size()) + index_ + 1 + (after_ ? 1 : 0);
  } else {
    length_ = static_cast<int64_t>(items_.size());
  }
  return *length_;
}

std::string LoopObject::Repr() const {
  return fmt::format("<LoopContext {}/{}>", index_ + 1, const_cast<LoopObject*>(this)->length());
}

Value LoopObject::Changed(const Items& values) {
  const bool same = last_changed_ && last_changed_->size() == values.size() &&
                    std::equal(values.begin(), values.end(), last_changed_->begin(), Equal);
  if (!same && !ended_) last_changed_ = values;
  return Value::Of(!same);
}

std::optional<Value> LoopObject::Attribute(std::string_view name) {
  if (name == "index") return Value::Of(index_ + 1);
  if (name == "index0") return Value::Of(index_);
  if (name == "first") return Value::Of(index_ == 0);
  if (name == "last") return Value::Of(!Peek().has_value());
  if (name == "length") return Value::Of(length());
  if (name == "revindex") return Value::Of(length() - index_);
  if (name == "revindex0") return Value::Of(length() - index_ - 1);
  if (name == "depth") return Value::Of(int64_t{depth_} + 1);
  if (name == "depth0") return Value::Of(int64_t{depth_});
  if (name == "previtem") return index_ == 0 ? Value::MakeUndefined("there is no previous item") : before_;
  if (name == "nextitem") return Peek().value_or(Value::MakeUndefined("there is no next item"));
  const auto self = shared_from_this();
  if (name == "cycle") {
    return Value::Of(std::make_shared<FunctionObject>("cycle", [self](Renderer&, CallArguments& arguments) {
      if (arguments.positional.empty()) Fail("no items for cycling given");
      return arguments.positional[static_cast<size_t>(self->index_) % arguments.positional.size()];
    }));
  }
  if (name == "changed") {
    return Value::Of(std::make_shared<FunctionObject>(
        "changed", [self](Renderer&, CallArguments& arguments) { return self->Changed(arguments.positional); }));
  }
  return std::nullopt;
}

Value LoopObject::Call(Renderer& renderer, CallArguments& arguments) {
  if (!loop_.recursive) Fail("The loop must have the 'recursive' marker to be called recursively.");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) Fail("loop() takes one argument");
  if (ended_) Fail("the loop is over");
  return Value::Of(renderer.RunLoopAgain(loop_, outer_, Iterate(arguments.positional[0]), depth_ + 1));
}

}  // namespace ekvi::jinja
