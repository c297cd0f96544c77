// Expressions.
#include <fmt/format.h>

#include "jinja/attributes.h"
#include "jinja/failure.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/renderer.h"
#include "jinja/repr.h"

namespace ekvi::jinja {

Value Renderer::Evaluate(const Expression& expression, const ScopePtr& scope) {
  const Level level(meter_);
  line_ = expression.line;
  const auto operand = [&](size_t index) { return Evaluate(*expression.operands[index], scope); };
  switch (expression.kind) {
    case ExpressionKind::kConstant:
      return expression.constant;
    case ExpressionKind::kName:
      return EvaluateName(expression, scope);
    case ExpressionKind::kList:
      return Value::List(EvaluateAll(expression.operands, scope));
    case ExpressionKind::kTuple:
      return Value::Tuple(EvaluateAll(expression.operands, scope));
    case ExpressionKind::kDict:
      return EvaluateDict(expression, scope);
    case ExpressionKind::kBinary: {
      const Value left = operand(0);
      return Apply(expression.binary, left, operand(1));
    }
    case ExpressionKind::kCompare:
      return EvaluateCompare(expression, scope);
    case ExpressionKind::kAnd: {
      Value left = operand(0);
      return Truth(left) ? operand(1) : left;
    }
    case ExpressionKind::kOr: {
      Value left = operand(0);
      return Truth(left) ? left : operand(1);
    }
    case ExpressionKind::kNot:
      return Value::Of(!Truth(operand(0)));
    case ExpressionKind::kNegate:
      return Negate(operand(0));
    case ExpressionKind::kPositive:
      return Positive(operand(0));
    case ExpressionKind::kConcat:
      return EvaluateConcat(expression, scope);
    case ExpressionKind::kCondition:
      return EvaluateCondition(expression, scope);
    case ExpressionKind::kAttribute:
      return GetAttribute(operand(0), expression.text);
    case ExpressionKind::kItem: {
      const Value object = operand(0);
      return GetItem(object, operand(1));
    }
    case ExpressionKind::kSlice:
      return EvaluateSlice(expression, scope);
    case ExpressionKind::kCall:
      return EvaluateCall(expression, scope);
    case ExpressionKind::kFilter:
      return EvaluateFilter(expression, scope);
    case ExpressionKind::kTest:
      return EvaluateTest(expression, scope);
  }
  return {};
}

Value Renderer::EvaluateName(const Expression& expression, const ScopePtr& scope) {
  if (const Value* value = scope->Find(expression.symbol)) return *value;
  return Value::MakeUndefined(fmt::format("'{}' is undefined", program_.symbols[expression.symbol]));
}

Items Renderer::EvaluateAll(const std::vector<ExpressionPtr>& expressions, const ScopePtr& scope) {
  Items values;
  values.reserve(expressions.size());
  for (const ExpressionPtr& expression : expressions) values.push_back(Evaluate(*expression, scope));
  return values;
}

Value Renderer::EvaluateDict(const Expression& expression, const ScopePtr& scope) {
  Dict dict;
  for (size_t i = 0; i < expression.operands.size(); i += 2) {
    Value key = Evaluate(*expression.operands[i], scope);
    dict.Set(std::move(key), Evaluate(*expression.operands[i + 1], scope));
  }
  return Value::Of(std::move(dict));
}

// a < b < c: each pair in turn, up to the first that does not hold.
Value Renderer::EvaluateCompare(const Expression& expression, const ScopePtr& scope) {
  Value left = Evaluate(*expression.operands[0], scope);
  for (size_t i = 0; i < expression.comparisons.size(); ++i) {
    Value right = Evaluate(*expression.operands[i + 1], scope);
    if (!Compare(expression.comparisons[i], left, right)) return Value::Of(false);
    left = std::move(right);
  }
  return Value::Of(true);
}

Value Renderer::EvaluateConcat(const Expression& expression, const ScopePtr& scope) {
  std::string text;
  for (const ExpressionPtr& operand : expression.operands) Append(text, Str(Evaluate(*operand, scope)));
  return Value::Of(std::move(text));
}

Value Renderer::EvaluateCondition(const Expression& expression, const ScopePtr& scope) {
  if (Truth(Evaluate(*expression.operands[0], scope))) return Evaluate(*expression.operands[1], scope);
  if (expression.operands[2] != nullptr) return Evaluate(*expression.operands[2], scope);
  return Value::MakeUndefined("the inline if-expression evaluated to false and no else section was defined.");
}

Value Renderer::EvaluateSlice(const Expression& expression, const ScopePtr& scope) {
  const auto part = [&](size_t index) {
    const ExpressionPtr& operand = expression.operands[index];
    return operand == nullptr ? Value::MakeNone() : Evaluate(*operand, scope);
  };
  const Value object = part(0);
  const Slice slice{part(1), part(2), part(3)};
  return ApplySlice(object, slice);
}

CallArguments Renderer::EvaluateArguments(const CallNode& call, const ScopePtr& scope) {
  CallArguments arguments{.positional = EvaluateAll(call.positional, scope), .named = {}};
  for (const auto& [name, expression] : call.named) arguments.named.emplace_back(name, Evaluate(*expression, scope));
  if (call.more_positional != nullptr) {
    for (Value& value : Iterate(Evaluate(*call.more_positional, scope))) {
      arguments.positional.push_back(std::move(value));
    }
  }
  if (call.more_named != nullptr) {
    const Value more = Evaluate(*call.more_named, scope);
    if (!more.IsDict()) Fail(fmt::format("argument after ** must be a mapping, not {}", TypeName(more)));
    for (const auto& [key, value] : more.dict().entries()) {
      if (!key.IsText()) Fail("keywords must be strings");
      arguments.named.emplace_back(key.text(), value);
    }
  }
  return arguments;
}

namespace {

// What any function may do with the texts it is given: look at each of their characters, a few nanoseconds each.
void ChargeText(const Value& value) {
  constexpr uint64_t kWork = 4;
  if (value.IsText()) StepBytes(kWork * value.text().size());
}

void ChargeTexts(const CallArguments& arguments) {
  for (const Value& value : arguments.positional) ChargeText(value);
  for (const auto& [name, value] : arguments.named) ChargeText(value);
}

}  // namespace

Value Renderer::EvaluateCall(const Expression& expression, const ScopePtr& scope, const CallArguments* more) {
  const Value callee = Evaluate(*expression.operands[0], scope);
  CallArguments arguments = EvaluateArguments(expression.call, scope);
  if (more != nullptr) arguments.named.insert(arguments.named.end(), more->named.begin(), more->named.end());
  line_ = expression.line;
  return Call(callee, arguments);
}

Value Renderer::Call(const Value& callee, CallArguments& arguments) {
  RequireDefined(callee);
  if (!callee.IsObject()) Fail(fmt::format("'{}' object is not callable", TypeName(callee)));
  const std::shared_ptr<Object> object = callee.shared_object();  // it may be set to something else meanwhile
  ChargeTexts(arguments);
  return object->Call(*this, arguments);
}

Value Renderer::EvaluateFilter(const Expression& expression, const ScopePtr& scope) {
  const ExpressionPtr& operand = expression.operands[0];
  const Value input = operand == nullptr ? block_input_ : Evaluate(*operand, scope);
  line_ = expression.line;
  if (expression.filter == nullptr) Refuse(fmt::format("No filter named '{}'.", expression.text));
  const CallArguments arguments = EvaluateArguments(expression.call, scope);
  line_ = expression.line;
  ChargeText(input);
  ChargeTexts(arguments);
  return expression.filter(*this, input, arguments);
}

Value Renderer::EvaluateTest(const Expression& expression, const ScopePtr& scope) {
  const Value input = Evaluate(*expression.operands[0], scope);
  line_ = expression.line;
  if (expression.test == nullptr) Refuse(fmt::format("No test named '{}'.", expression.text));
  const CallArguments arguments = EvaluateArguments(expression.call, scope);
  line_ = expression.line;
  return Value::Of(expression.test(*this, input, arguments));
}

Value Renderer::CallFilter(const std::string& name, const Value& input, const CallArguments& arguments) {
  const Level level(meter_);
  const FilterFunction filter = FindFilter(name);
  if (filter == nullptr) Refuse(fmt::format("No filter named '{}'.", name));
  ChargeText(input);
  ChargeTexts(arguments);
  return filter(*this, input, arguments);
}

bool Renderer::CallTest(const std::string& name, const Value& input, const CallArguments& arguments) {
  const Level level(meter_);
  const TestFunction test = FindTest(name);
  if (test == nullptr) Refuse(fmt::format("No test named '{}'.", name));
  return test(*this, input, arguments);
}

}  // namespace ekvi::jinja
