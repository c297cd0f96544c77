#include "jinja/tests.h"

#include <fmt/format.h>

#include <map>

#include "jinja/bound.h"
#include "jinja/failure.h"
#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

using Predicate = bool (*)(const Value&);

// A test without arguments.
template <Predicate kPredicate>
bool Simple(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("test", arguments, {});
  return kPredicate(input);
}

template <Comparison kComparison>
bool Compared(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("test", arguments, {"other"}, 1);
  return Compare(kComparison, input, *bound[0]);
}

bool HasRest(const Value& value, int64_t rest) {
  return Equal(Apply(Binary::kModulo, value, Value::Of(int64_t{2})), Value::Of(rest));
}

bool Divisible(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("divisibleby", arguments, {"num"}, 1);
  return !Truth(Apply(Binary::kModulo, input, *bound[0]));
}

bool SameAs(Renderer&, const Value& input, const CallArguments& arguments) {
  const Bound bound("sameas", arguments, {"other"}, 1);
  return input.Same(*bound[0]);
}

bool IsFilter(Renderer&, const Value& input, const CallArguments&) {
  return input.IsText() && FindFilter(input.text()) != nullptr;
}
bool IsTest(Renderer&, const Value& input, const CallArguments&) {
  return input.IsText() && FindTest(input.text()) != nullptr;
}

bool Defined(const Value& value) { return !value.IsUndefined(); }
bool Undefined(const Value& value) { return value.IsUndefined(); }
bool None(const Value& value) { return value.IsNone(); }
bool Boolean(const Value& value) { return value.IsBool(); }
bool True(const Value& value) { return value.IsBool() && value.boolean(); }
bool False(const Value& value) { return value.IsBool() && !value.boolean(); }
bool Integer(const Value& value) { return value.IsInt(); }
bool Float(const Value& value) { return value.IsFloat(); }
bool Number(const Value& value) { return value.IsNumber(); }
bool String(const Value& value) { return value.IsText(); }
bool Mapping(const Value& value) { return value.IsDict(); }
bool Callable(const Value& value) { return value.IsUndefined() || (value.IsObject() && value.object().IsCallable()); }
bool Even(const Value& value) { return HasRest(value, 0); }
bool Odd(const Value& value) { return HasRest(value, 1); }
bool Escaped(const Value& value) { return value.markup(); }

bool Iterable(const Value& value) {
  const bool loop = value.IsObject() && value.object().TypeName() == "LoopContext";
  return value.IsText() || value.IsSequence() || value.IsDict() || value.IsIterator() || value.IsUndefined() || loop;
}

bool Sequence(const Value& value) {
  if (value.IsText() || value.IsDict() || value.IsUndefined()) return true;
  return value.IsList() || value.IsTuple() || value.IsSequence(Value::SequenceType::kRange);
}

bool CasedAs(const Value& value, std::string_view method) {
  const std::string text = Str(value);
  bool any = false;
  Step(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const Character head = FirstCharacter(rest);
    const bool upper = IsUpper(head.code), lower = IsLower(head.code);
    if (IsTitle(head.code) || (method == "upper" ? lower : upper)) return false;
    any |= upper || lower;
    rest.remove_prefix(head.bytes);
  }
  return any;
}
bool LowerCase(const Value& value) { return CasedAs(value, "lower"); }
bool UpperCase(const Value& value) { return CasedAs(value, "upper"); }

const std::map<std::string_view, TestFunction>& Table() {
  static const std::map<std::string_view, TestFunction> kTests = {
      {"boolean", Simple<Boolean>},
      {"callable", Simple<Callable>},
      {"defined", Simple<Defined>},
      {"divisibleby", Divisible},
      {"escaped", Simple<Escaped>},
      {"even", Simple<Even>},
      {"false", Simple<False>},
      {"filter", IsFilter},
      {"float", Simple<Float>},
      {"in", Compared<Comparison::kIn>},
      {"integer", Simple<Integer>},
      {"iterable", Simple<Iterable>},
      {"lower", Simple<LowerCase>},
      {"mapping", Simple<Mapping>},
      {"none", Simple<None>},
      {"number", Simple<Number>},
      {"odd", Simple<Odd>},
      {"sameas", SameAs},
      {"sequence", Simple<Sequence>},
      {"string", Simple<String>},
      {"test", IsTest},
      {"true", Simple<True>},
      {"undefined", Simple<Undefined>},
      {"upper", Simple<UpperCase>},
      {"eq", Compared<Comparison::kEqual>},
      {"equalto", Compared<Comparison::kEqual>},
      {"==", Compared<Comparison::kEqual>},
      {"ne", Compared<Comparison::kNotEqual>},
      {"!=", Compared<Comparison::kNotEqual>},
      {"lt", Compared<Comparison::kLess>},
      {"lessthan", Compared<Comparison::kLess>},
      {"<", Compared<Comparison::kLess>},
      {"le", Compared<Comparison::kLessEqual>},
      {"<=", Compared<Comparison::kLessEqual>},
      {"gt", Compared<Comparison::kGreater>},
      {"greaterthan", Compared<Comparison::kGreater>},
      {">", Compared<Comparison::kGreater>},
      {"ge", Compared<Comparison::kGreaterEqual>},
      {">=", Compared<Comparison::kGreaterEqual>},
  };
  return kTests;
}

}  // namespace

TestFunction FindTest(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? nullptr : found->second;
}

}  // namespace ekvi::jinja
