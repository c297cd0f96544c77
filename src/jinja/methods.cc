#include "jinja/methods.h"

#include <fmt/format.h>

#include "jinja/failure.h"
#include "jinja/meter.h"
#include "jinja/objects.h"

namespace ekvi::jinja {
namespace {

class BoundMethod : public Object {
 public:
  BoundMethod(std::string_view name, MethodFunction function, Value self)
      : name_(name), function_(function), self_(std::move(self)), charge_(96) {}

  std::string TypeName() const override { return "builtin_function_or_method"; }
  std::string Repr() const override {
    return fmt::format("<built-in method {} of {} object>", name_, jinja::TypeName(self_));
  }
  bool IsCallable() const override { return true; }
  Value Call(Renderer&, CallArguments& arguments) override {
    if (self_.IsText()) StepBytes(4 * self_.text().size());  // as Renderer::Call charges for arguments
    return function_(self_, arguments);
  }
  int depth() const override { return self_.depth() + 1; }

 private:
  std::string_view name_;  // of the table
  MethodFunction function_;
  Value self_;
  Charge charge_;
};

std::span<const MethodEntry> MethodsOf(const Value& self) {
  if (self.IsText()) return TextMethods();
  if (self.IsDict()) return DictMethods();
  if (self.IsList()) return ListMethods();
  if (!self.IsTuple() && !self.IsSequence(Value::SequenceType::kRange)) return {};
  static const auto reading = [] {  // tuples and ranges have those that change nothing
    std::vector<MethodEntry> entries;
    for (const MethodEntry& entry : ListMethods()) {
      if (entry.name == "count" || entry.name == "index") entries.push_back(entry);
    }
    return entries;
  }();
  return reading;
}

}  // namespace

std::optional<Value> FindMethod(const Value& self, std::string_view name) {
  for (const MethodEntry& entry : MethodsOf(self)) {
    if (entry.name != name) continue;
    if (entry.function == nullptr) {
      return Value::MakeUndefined(
          fmt::format("access to attribute '{}' of '{}' object is unsafe.", name, TypeName(self)));
    }
    return Value::Of(std::shared_ptr<Object>(std::make_shared<BoundMethod>(entry.name, entry.function, self)));
  }
  return std::nullopt;
}

}  // namespace ekvi::jinja
