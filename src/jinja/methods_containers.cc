// Methods of lists, tuples and dicts.
#include <fmt/format.h>

#include <algorithm>

#include "jinja/bound.h"
#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/methods.h"
#include "jinja/operators.h"
#include "jinja/repr.h"

namespace ekvi::jinja {
namespace {

Value Get(const Value& self, const CallArguments& arguments) {
  const Bound bound("get", arguments, {"key", "default"}, 1);
  const Value* found = self.dict().Find(*bound[0]);
  return found != nullptr ? *found : bound.Or(1, Value::MakeNone());
}

Value Views(const Value& self, const CallArguments& arguments, Value::SequenceType type) {
  const Bound bound("dict method", arguments, {});
  const Dict& dict = self.dict();
  Step(dict.size());
  return Value::Make(type, type == Value::SequenceType::kKeys     ? dict.Keys()
                           : type == Value::SequenceType::kValues ? dict.Values()
                                                                  : dict.Pairs());
}

Value DictItems(const Value& self, const CallArguments& arguments) {
  return Views(self, arguments, Value::SequenceType::kItems);
}
Value DictKeys(const Value& self, const CallArguments& arguments) {
  return Views(self, arguments, Value::SequenceType::kKeys);
}
Value DictValues(const Value& self, const CallArguments& arguments) {
  return Views(self, arguments, Value::SequenceType::kValues);
}

Value DictCopy(const Value& self, const CallArguments& arguments) {
  const Bound bound("copy", arguments, {});
  return Value::Of(Dict(self.dict()));
}

Value DictFromKeys(const Value&, const CallArguments& arguments) {
  const Bound bound("fromkeys", arguments, {"iterable", "value"}, 1);
  Dict dict;
  for (Value& key : Iterate(*bound[0])) dict.Set(std::move(key), bound.Or(1, Value::MakeNone()));
  return Value::Of(std::move(dict));
}

Value ListCopy(const Value& self, const CallArguments& arguments) {
  const Bound bound("copy", arguments, {});
  return Value::List(Items(self.sequence().items));
}

Value ListCount(const Value& self, const CallArguments& arguments) {
  const Bound bound("count", arguments, {"value"}, 1);
  const Items& items = self.sequence().items;
  return Value::Of(static_cast<int64_t>(
      std::count_if(items.begin(), items.end(), [&](const Value& item) { return Equal(item, *bound[0]); })));
}

Value ListIndex(const Value& self, const CallArguments& arguments) {
  const Bound bound("index", arguments, {"value", "start", "stop"}, 1);
  const Items& items = self.sequence().items;
  const auto length = static_cast<int64_t>(items.size());
  const auto place = [&](int64_t index) { return std::clamp<int64_t>(index < 0 ? index + length : index, 0, length); };
  const int64_t stop = place(bound.Integer(2, length));
  for (int64_t i = place(bound.Integer(1, 0)); i < stop; ++i) {
    if (Equal(items[static_cast<size_t>(i)], *bound[0])) return Value::Of(i);
  }
  Fail(fmt::format("{} is not in {}", Repr(*bound[0]), TypeName(self)));
}

constexpr MethodEntry kDictMethods[] = {
    {"get", Get},       {"items", DictItems},       {"keys", DictKeys},  {"values", DictValues},
    {"copy", DictCopy}, {"fromkeys", DictFromKeys}, {"pop", nullptr},    {"popitem", nullptr},
    {"clear", nullptr}, {"setdefault", nullptr},    {"update", nullptr},
};

constexpr MethodEntry kListMethods[] = {
    {"count", ListCount}, {"index", ListIndex}, {"copy", ListCopy},  {"append", nullptr},
    {"clear", nullptr},   {"extend", nullptr},  {"insert", nullptr}, {"pop", nullptr},
    {"remove", nullptr},  {"reverse", nullptr}, {"sort", nullptr},
};

}  // namespace

std::span<const MethodEntry> DictMethods() { return kDictMethods; }
std::span<const MethodEntry> ListMethods() { return kListMethods; }

}  // namespace ekvi::jinja
