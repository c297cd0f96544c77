#include "jinja/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "jinja/dict.h"
#include "jinja/failure.h"
#include "jinja/percent_format.h"
#include "jinja/repr.h"
#include "jinja/text.h"

namespace ekvi::jinja {
namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};

[[noreturn]] void FailOperands(Binary operation, const Value& left, const Value& right) {
  const bool is_add = operation == Binary::kAdd;
  if (is_add && (left.IsText() || left.IsList() || left.IsTuple())) {
    const std::string type = left.IsText() ? "str" : TypeName(left);
    Fail(fmt::format("can only concatenate {0} (not \"{1}\") to {0}", type, TypeName(right)));
  }
  Fail(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", kSigns[static_cast<int>(operation)],
                   TypeName(left), TypeName(right)));
}

[[noreturn]] void RefuseOverflow() { Refuse("an integer does not fit 64 bits"); }

int64_t FloorDivide(int64_t left, int64_t right) {
  if (right == 0) Fail("integer division or modulo by zero");
  if (right == -1) {
    int64_t result;
    if (__builtin_sub_overflow(int64_t{0}, left, &result)) RefuseOverflow();
    return result;
  }
  const int64_t quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

int64_t Modulo(int64_t left, int64_t right) {
  if (right == 0) Fail("integer modulo by zero");
  if (right == -1) return 0;
  const int64_t rest = left % right;
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

double Modulo(double left, double right) {
  if (right == 0) Fail("float modulo");
  const double rest = std::fmod(left, right);
  if (rest == 0) return std::copysign(0.0, right);
  return (rest < 0) != (right < 0) ? rest + right : rest;
}

double FloorDivide(double left, double right) {
  if (right == 0) Fail("float floor division by zero");
  const double quotient = (left - Modulo(left, right)) / right;
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

Value IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) Fail("0.0 cannot be raised to a negative power");
    return Value::Of(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) RefuseOverflow();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) RefuseOverflow();
  }
  return Value::Of(result);
}

Value FloatPower(double base, double exponent) {
  if (base == 0 && exponent < 0) Fail("0.0 cannot be raised to a negative power");
  if (base < 0 && exponent != std::floor(exponent)) Refuse("complex numbers are not supported");
  return Value::Of(std::pow(base, exponent));
}

Value ApplyIntegers(Binary operation, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflow = false;
  switch (operation) {
    case Binary::kAdd:
      overflow = __builtin_add_overflow(left, right, &result);
      break;
    case Binary::kSubtract:
      overflow = __builtin_sub_overflow(left, right, &result);
      break;
    case Binary::kMultiply:
      overflow = __builtin_mul_overflow(left, right, &result);
      break;
    case Binary::kDivide:
      if (right == 0) Fail("division by zero");
      return Value::Of(static_cast<double>(left) / static_cast<double>(right));
    case Binary::kFloorDivide:
      return Value::Of(FloorDivide(left, right));
    case Binary::kModulo:
      return Value::Of(Modulo(left, right));
    case Binary::kPower:
      return IntegerPower(left, right);
  }
  if (overflow) RefuseOverflow();
  return Value::Of(result);
}

Value ApplyFloats(Binary operation, double left, double right) {
  switch (operation) {
    case Binary::kAdd:
      return Value::Of(left + right);
    case Binary::kSubtract:
      return Value::Of(left - right);
    case Binary::kMultiply:
      return Value::Of(left * right);
    case Binary::kDivide:
      if (right == 0) Fail("float division by zero");
      return Value::Of(left / right);
    case Binary::kFloorDivide:
      return Value::Of(FloorDivide(left, right));
    case Binary::kModulo:
      return Value::Of(Modulo(left, right));
    case Binary::kPower:
      return FloatPower(left, right);
  }
  return {};
}

Items Joined(const Items& left, const Items& right) {
  StepItems(left.size() + right.size());
  Items items;
  items.reserve(left.size() + right.size());
  items.insert(items.end(), left.begin(), left.end());
  items.insert(items.end(), right.begin(), right.end());
  return items;
}

Value AddTexts(const Value& left, const Value& right) {
  CheckText(left.text().size() + right.text().size());
  StepBytes(left.text().size() + right.text().size());
  const bool markup = left.markup() || right.markup();
  if (!markup) return Value::Of(left.text() + right.text());
  return Value::Of(Escape(left).text() + Escape(right).text(), true);
}

Value Repeat(const Value& value, int64_t count) {
  const auto times = static_cast<uint64_t>(std::max<int64_t>(count, 0));
  if (value.IsText()) {
    const std::string& text = value.text();
    if (!text.empty() && times > UINT64_MAX / 2 / text.size()) CheckText(UINT64_MAX);
    CheckText(text.size() * times);
    std::string result;
    result.reserve(text.size() * times);
    for (uint64_t i = 0; i < times && !text.empty(); ++i) result += text;
    return Value::Of(std::move(result), value.markup());
  }
  const Items& items = value.sequence().items;
  const uint64_t copies = items.empty() ? 0 : times > INT32_MAX / items.size() ? INT32_MAX : items.size() * times;
  StepItems(copies);
  Items result;
  result.reserve(copies);
  for (uint64_t i = 0; i < times && !items.empty(); ++i) result.insert(result.end(), items.begin(), items.end());
  return Value::Make(value.sequence().type, std::move(result));
}

bool Repeatable(const Value& value) { return value.IsText() || value.IsList() || value.IsTuple(); }

bool EqualDicts(const Dict& left, const Dict& right) {
  if (left.size() != right.size()) return false;
  return std::all_of(left.entries().begin(), left.entries().end(), [&](const Dict::Entry& entry) {
    const Value* other = right.Find(entry.first);
    return other != nullptr && Equal(entry.second, *other);
  });
}

bool EqualItems(const Items& left, const Items& right) {
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(), Equal);
}

bool LessItems(const Items& left, const Items& right, std::string_view sign) {
  const auto [a, b] = std::mismatch(left.begin(), left.end(), right.begin(), right.end(), Equal);
  if (a == left.end() || b == right.end()) return a == left.end() && b != right.end();
  return Less(*a, *b, sign);
}

// Python compares an int with a float exactly.
int CompareNumbers(const Value& left, const Value& right) {
  if (left.IsIntegral() && right.IsIntegral()) {
    return left.integer() < right.integer() ? -1 : left.integer() > right.integer();
  }
  const auto a = left.IsFloat() ? static_cast<long double>(left.number()) : static_cast<long double>(left.integer());
  const auto b = right.IsFloat() ? static_cast<long double>(right.number()) : static_cast<long double>(right.integer());
  return a < b ? -1 : a > b;
}

bool IsNan(const Value& value) { return value.IsFloat() && std::isnan(value.number()); }

}  // namespace

void RequireDefined(const Value& value) {
  if (value.IsUndefined()) Fail(value.undefined_message());
}

bool Truth(const Value& value) {
  if (value.IsUndefined() || value.IsNone()) return false;
  if (value.IsBool() || value.IsInt()) return value.integer() != 0;
  if (value.IsFloat()) return value.number() != 0;
  if (value.IsText()) return !value.text().empty();
  if (value.IsSequence()) return !value.sequence().items.empty();
  if (value.IsDict()) return value.dict().size() > 0;
  return true;
}

bool Equal(const Value& left, const Value& right) {
  Step();
  if (left.IsNumber() && right.IsNumber()) return !IsNan(left) && !IsNan(right) && CompareNumbers(left, right) == 0;
  if (left.IsText() && right.IsText()) {
    StepBytes(std::min(left.text().size(), right.text().size()));
    return left.text() == right.text();
  }
  if (left.IsSequence() && right.IsSequence()) {
    const auto type = left.sequence().type;
    return type == right.sequence().type && EqualItems(left.sequence().items, right.sequence().items);
  }
  if (left.IsDict() && right.IsDict()) return EqualDicts(left.dict(), right.dict());
  if (left.IsUndefined() && right.IsUndefined()) return true;
  return left.Same(right);
}

bool Less(const Value& left, const Value& right, std::string_view sign) {
  Step();
  RequireDefined(left);
  RequireDefined(right);
  if (left.IsNumber() && right.IsNumber()) return !IsNan(left) && !IsNan(right) && CompareNumbers(left, right) < 0;
  if (left.IsText() && right.IsText()) {
    StepBytes(std::min(left.text().size(), right.text().size()));
    return left.text() < right.text();
  }
  const bool lists = (left.IsList() && right.IsList()) || (left.IsTuple() && right.IsTuple());
  if (lists) return LessItems(left.sequence().items, right.sequence().items, sign);
  const bool swapped = sign == ">" || sign == "<=";  // which are computed as right < left
  Fail(fmt::format("'{}' not supported between instances of '{}' and '{}'", sign, TypeName(swapped ? right : left),
                   TypeName(swapped ? left : right)));
}

bool Contains(const Value& container, const Value& item) {
  if (container.IsText()) {
    if (item.IsUndefined() || !item.IsText()) {
      Fail(fmt::format("'in <string>' requires string as left operand, not {}", TypeName(item)));
    }
    StepBytes(container.text().size());
    return Find(container.text(), item.text()) != std::string::npos;
  }
  if (container.IsDict()) return container.dict().Find(item) != nullptr;
  if (container.IsSequence()) {
    const Items& items = container.sequence().items;
    return std::any_of(items.begin(), items.end(), [&](const Value& each) { return Equal(each, item); });
  }
  if (container.IsUndefined()) return false;
  if (container.IsIterator()) {
    Value::Iterator& iterator = container.iterator();
    while (iterator.next < iterator.items.size()) {
      if (Equal(iterator.items[iterator.next++], item)) return true;
    }
    return false;
  }
  Fail(fmt::format("argument of type '{}' is not iterable", TypeName(container)));
}

bool Compare(Comparison comparison, const Value& left, const Value& right) {
  switch (comparison) {
    case Comparison::kEqual:
      return Equal(left, right);
    case Comparison::kNotEqual:
      return !Equal(left, right);
    case Comparison::kLess:
      return Less(left, right);
    case Comparison::kLessEqual:
      return IsNan(left) || IsNan(right) ? false : !Less(right, left, "<=");
    case Comparison::kGreater:
      return Less(right, left, ">");
    case Comparison::kGreaterEqual:
      return IsNan(left) || IsNan(right) ? false : !Less(left, right, ">=");
    case Comparison::kIn:
      return Contains(right, left);
    case Comparison::kNotIn:
      return !Contains(right, left);
  }
  return false;
}

Value Apply(Binary operation, const Value& left, const Value& right) {
  Step();
  if (operation == Binary::kModulo && left.IsText()) return PercentFormat(left, right);
  RequireDefined(left);
  RequireDefined(right);
  if (left.IsIntegral() && right.IsIntegral()) return ApplyIntegers(operation, left.integer(), right.integer());
  if (left.IsNumber() && right.IsNumber()) return ApplyFloats(operation, left.number(), right.number());
  if (operation == Binary::kAdd && left.IsText() && right.IsText()) return AddTexts(left, right);
  if (operation == Binary::kAdd && left.IsSequence() && right.IsSequence()) {
    const auto type = left.sequence().type;
    const bool concatenable = left.IsList() || left.IsTuple();
    if (concatenable && type == right.sequence().type) {
      return Value::Make(type, Joined(left.sequence().items, right.sequence().items));
    }
  }
  if (operation == Binary::kMultiply && Repeatable(left) && right.IsIntegral()) return Repeat(left, right.integer());
  if (operation == Binary::kMultiply && Repeatable(right) && left.IsIntegral()) return Repeat(right, left.integer());
  if (operation == Binary::kMultiply && (Repeatable(left) || Repeatable(right))) {
    Fail(fmt::format("can't multiply sequence by non-int of type '{}'", TypeName(Repeatable(left) ? right : left)));
  }
  FailOperands(operation, left, right);
}

Value Negate(const Value& value) {
  RequireDefined(value);
  if (value.IsIntegral()) return ApplyIntegers(Binary::kSubtract, 0, value.integer());
  if (value.IsFloat()) return Value::Of(-value.number());
  Fail(fmt::format("bad operand type for unary -: '{}'", TypeName(value)));
}

Value Positive(const Value& value) {
  RequireDefined(value);
  if (value.IsIntegral()) return Value::Of(value.integer());
  if (value.IsFloat()) return value;
  Fail(fmt::format("bad operand type for unary +: '{}'", TypeName(value)));
}

Value Escape(const Value& value) {
  if (value.markup()) return value;
  const std::string text = Str(value);
  Step(text.size() / 8 + 1);
  std::string result;
  for (const char c : text) {
    static constexpr std::string_view kFrom = "&<>'\"";
    static constexpr std::string_view kTo[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
    const size_t index = kFrom.find(c);
    index == std::string_view::npos ? result += c : result += kTo[index];
    CheckText(result.size());
  }
  return Value::Of(std::move(result), true);
}

}  // namespace ekvi::jinja
