// The functions that every template has.
#include <fmt/format.h>

#include <map>

#include "jinja/bound.h"
#include "jinja/failure.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/repr.h"

namespace ekvi::jinja {
namespace {

// MAX_RANGE of Jinja2's restricted environment.
constexpr int64_t kMaxRange = 100'000;

Value Range(Renderer&, CallArguments& arguments) {
  const Bound bound("range", arguments, {"start", "stop", "step"}, 1);
  const bool single = !bound.Has(1);
  const int64_t start = single ? 0 : bound.Integer(0, 0);
  const int64_t stop = single ? bound.Integer(0, 0) : bound.Integer(1, 0);
  const int64_t step = bound.Integer(2, 1);
  if (step == 0) Fail("range() arg 3 must not be zero");
  const auto distance = static_cast<__int128>(stop) - start;
  const __int128 count = (distance + step - (step > 0 ? 1 : -1)) / step;
  if (count > kMaxRange) {
    Fail(fmt::format("Range too big: at most {} items are possible", kMaxRange));
  }
  Items items;
  for (__int128 i = 0; i < count; ++i) items.push_back(Value::Of(static_cast<int64_t>(start + i * step)));
  std::string label = fmt::format("range({}, {}", start, stop) + (step == 1 ? ")" : fmt::format(", {})", step));
  return Value::Make(Value::SequenceType::kRange, std::move(items), std::move(label));
}

// dict(mapping or pairs, **more).
Dict DictOf(CallArguments& arguments, std::string_view function) {
  Dict dict;
  if (arguments.positional.size() > 1) {
    Fail(fmt::format("{} expected at most 1 argument, got {}", function, arguments.positional.size()));
  }
  for (const Value& from : arguments.positional) {
    if (from.IsDict()) {
      dict = from.dict();
      continue;
    }
    for (const Value& pair : Iterate(from)) {
      Items parts = Iterate(pair);
      if (parts.size() != 2) {
        Fail(fmt::format("dictionary update sequence element has length {}; 2 is required", parts.size()));
      }
      dict.Set(std::move(parts[0]), std::move(parts[1]));
    }
  }
  for (auto& [name, value] : arguments.named) dict.Set(Value::Of(name), value);
  return dict;
}

Value MakeDict(Renderer&, CallArguments& arguments) { return Value::Of(DictOf(arguments, "dict")); }

Value MakeNamespace(Renderer& renderer, CallArguments& arguments) {
  auto object = std::make_shared<NamespaceObject>(DictOf(arguments, "namespace"));
  renderer.Keep(object);
  return Value::Of(std::shared_ptr<Object>(std::move(object)));
}

// Goes around its items: next(), current, reset().
class CyclerObject : public Object, public std::enable_shared_from_this<CyclerObject> {
 public:
  explicit CyclerObject(Items items) : items_(Value::Tuple(std::move(items))), charge_(128) {}

  std::string TypeName() const override { return "utils.Cycler"; }
  std::string Repr() const override { return "<jinja2.utils.Cycler object>"; }
  int depth() const override { return items_.depth(); }
  std::optional<Value> Attribute(std::string_view name) override {
    if (name == "current") return current();
    if (name != "next" && name != "reset") return std::nullopt;
    const auto self = shared_from_this();
    const bool reset = name == "reset";
    const auto body = [self, reset](Renderer&, CallArguments&) {
      Value value = reset ? Value::MakeNone() : self->current();
      self->at_ = reset ? 0 : (self->at_ + 1) % self->items_.sequence().items.size();
      return value;
    };
    return Value::Of(std::make_shared<FunctionObject>(std::string(name), body, depth() + 1));
  }

 private:
  const Value& current() const { return items_.sequence().items[at_]; }

  Value items_;
  size_t at_ = 0;
  Charge charge_;
};

Value MakeCycler(Renderer&, CallArguments& arguments) {
  if (arguments.positional.empty()) Fail("at least one item has to be provided");
  return Value::Of(std::make_shared<CyclerObject>(std::move(arguments.positional)));
}

Value MakeJoiner(Renderer&, CallArguments& arguments) {
  const Bound bound("joiner", arguments, {"sep"});
  const auto used = std::make_shared<bool>(false);
  const auto body = [separator = bound.Text(0, ", "), used](Renderer&, CallArguments&) {
    return Value::Of(std::exchange(*used, true) ? separator : std::string());
  };
  return Value::Of(std::make_shared<FunctionObject>("joiner", body));
}

Value RaiseException(Renderer&, CallArguments& arguments) {
  const Bound bound("raise_exception", arguments, {"message"}, 1);
  throw Failure{.message = Str(*bound[0]), .raised = true};
}

Value StrftimeNow(Renderer& renderer, CallArguments& arguments) {
  const Bound bound("strftime_now", arguments, {"format"}, 1);
  const std::string format = bound.Text(0, "");
  if (format.find('\0') != std::string::npos) Fail("embedded null character");
  return Value::Of(renderer.settings().strftime_now(format));
}

Value Lipsum(Renderer&, CallArguments&) { Refuse("lipsum(): the text of a template does not come by chance here"); }

}  // namespace

std::shared_ptr<Object> FindFunction(std::string_view name) {
  static const std::map<std::string_view, Value (*)(Renderer&, CallArguments&)> kFunctions = {
      {"range", Range},       {"dict", MakeDict}, {"namespace", MakeNamespace},        {"cycler", MakeCycler},
      {"joiner", MakeJoiner}, {"lipsum", Lipsum}, {"raise_exception", RaiseException}, {"strftime_now", StrftimeNow},
  };
  const auto found = kFunctions.find(name);
  if (found == kFunctions.end()) return nullptr;
  return std::make_shared<FunctionObject>(std::string(name), found->second);
}

}  // namespace ekvi::jinja
