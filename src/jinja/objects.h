// Objects that a rendering makes: functions, namespaces, macros, loops.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/dict.h"
#include "jinja/renderer.h"

namespace ekvi::jinja {

// A function of the language, or a method of an object.
class FunctionObject : public Object {
 public:
  using Body = std::function<Value(Renderer&, CallArguments&)>;
  // `depth`: of the values that the body holds.
  FunctionObject(std::string name, Body body, int depth = 0)
      : name_(std::move(name)), body_(std::move(body)), depth_(depth), charge_(160) {}

  std::string TypeName() const override { return "function"; }
  std::string Repr() const override { return "<function " + name_ + ">"; }
  bool IsCallable() const override { return true; }
  Value Call(Renderer& renderer, CallArguments& arguments) override { return body_(renderer, arguments); }
  int depth() const override { return depth_; }

 private:
  std::string name_;
  Body body_;
  int depth_;
  Charge charge_;
};

// namespace(a=1): the one value whose attributes a template may set.
class NamespaceObject : public Object {
 public:
  explicit NamespaceObject(Dict values)
      : values_(std::move(values)), charge_(256 + values_.size() * 128 + values_.key_bytes()) {}

  std::string TypeName() const override { return "utils.Namespace"; }
  std::string Repr() const override;
  std::optional<Value> Attribute(std::string_view name) override;
  void Set(std::string_view name, Value value) { values_.Set(Value::Of(name), std::move(value)); }
  void Clear() override { values_ = Dict(); }

 private:
  Dict values_;
  Charge charge_;
};

// A macro, or the body of a call block, with the variables around its definition.
class MacroObject : public Object {
 public:
  MacroObject(const Statement& macro, std::shared_ptr<Scope> definition)
      : macro_(macro), definition_(std::move(definition)), charge_(128) {}

  std::string TypeName() const override { return "runtime.Macro"; }
  std::string Repr() const override;
  std::optional<Value> Attribute(std::string_view name) override;
  bool IsCallable() const override { return true; }
  Value Call(Renderer& renderer, CallArguments& arguments) override;
  void Clear() override { definition_.reset(); }

 private:
  const Statement& macro_;
  std::shared_ptr<Scope> definition_;
  Charge charge_;
};

// `loop` in a loop: where it stands, and its items one by one. A condition of the loop is asked when an item is needed
// and not before, as it may depend on what the body has set.
class LoopObject : public Object, public std::enable_shared_from_this<LoopObject> {
 public:
  LoopObject(Renderer& renderer, const Statement& loop, std::shared_ptr<Scope> outer, Items items, int depth);

  // Goes to the next item; false after the last.
  bool Advance();
  const Value& item() const { return item_; }
  // The loop is over: what it holds is let go.
  void End();

  std::string TypeName() const override { return "LoopContext"; }
  std::string Repr() const override;
  std::optional<Value> Attribute(std::string_view name) override;
  bool IsCallable() const override { return true; }
  Value Call(Renderer& renderer, CallArguments& arguments) override;
  void Clear() override { End(); }

 private:
  std::optional<Value> Pull();
  const std::optional<Value>& Peek();
  int64_t length();
  Value Changed(const Items& values);

  Renderer& renderer_;
  const Statement& loop_;
  std::shared_ptr<Scope> outer_;
  Items items_;
  size_t next_ = 0;
  bool conditional_;
  int depth_;
  int64_t index_ = -1;
  std::optional<int64_t> length_;
  std::optional<Value> after_;  // pulled already, comes next
  Value before_, item_;
  std::optional<Items> last_changed_;
  bool ended_ = false;
  Charge charge_;
};

// The functions that every template has (range, namespace …); null where there is none of that name.
std::shared_ptr<Object> FindFunction(std::string_view name);

}  // namespace ekvi::jinja
