// Statements. A loop's body, a macro's call and some blocks have variables of their own (Scope); a value that is set
// inside them is forgotten after them, which is what `namespace` is for.
#include "jinja/renderer.h"

#include <fmt/format.h>

#include <algorithm>

#include "jinja/failure.h"
#include "jinja/objects.h"
#include "jinja/operators.h"
#include "jinja/repr.h"

namespace ekvi::jinja {

Renderer::Renderer(const Program& program, RenderSettings settings)
    : meter_(settings.limits), program_(program), settings_(std::move(settings)) {}

Renderer::~Renderer() {
  for (const auto& object : kept_) object->Clear();
}

std::string Renderer::Run(const Dict& variables) {
  const MeterScope current(meter_);
  Capture capture(*this);
  try {
    const auto functions = std::make_shared<Scope>();
    const auto root = std::make_shared<Scope>(functions);
    for (Symbol symbol = 0; symbol < program_.symbols.size(); ++symbol) {
      const std::string& name = program_.symbols[symbol];
      if (auto function = FindFunction(name)) functions->Set(symbol, Value::Of(std::move(function)));
      if (const Value* value = variables.Find(name)) root->Set(symbol, *value);
    }
    Execute(program_.body, root);
  } catch (Failure& failure) {
    if (failure.line == 0) failure.line = line_;
    throw;
  }
  return capture.Take();
}

void Renderer::Emit(std::string_view text) { output_->Add(text); }

void Renderer::Capture::Add(std::string_view text) {
  const size_t size = text_.size() + text.size();
  CheckText(size);
  if (size > text_.capacity()) {
    const size_t capacity = std::max(size, 2 * text_.capacity());
    renderer_.meter_.Take(capacity);  // both live while the text moves
    renderer_.meter_.Give(std::exchange(charged_, capacity));
    text_.reserve(capacity);
  }
  Append(text_, text);
}

std::string Renderer::Capture::Take() {
  renderer_.meter_.Give(std::exchange(charged_, 0));
  return std::move(text_);
}

Renderer::Flow Renderer::Execute(const Body& body, const ScopePtr& scope) {
  const Level level(meter_);
  for (const auto& statement : body) {
    meter_.Step();
    line_ = statement->line;
    const Flow flow = ExecuteOne(*statement, scope);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Renderer::Flow Renderer::ExecuteOne(const Statement& statement, const ScopePtr& scope) {
  switch (statement.kind) {
    case StatementKind::kData:
      Emit(statement.text);
      break;
    case StatementKind::kOutput:
      for (const ExpressionPtr& expression : statement.expressions) Emit(Str(Evaluate(*expression, scope)));
      break;
    case StatementKind::kIf:
      return ExecuteIf(statement, scope);
    case StatementKind::kFor:
      ExecuteFor(statement, scope, Iterate(Evaluate(*statement.expressions[0], scope)), 0);
      break;
    case StatementKind::kSet:
      ExecuteSet(statement, scope);
      break;
    case StatementKind::kSetBlock:
      ExecuteSetBlock(statement, scope);
      break;
    case StatementKind::kMacro:
      ExecuteMacro(statement, scope);
      break;
    case StatementKind::kCallBlock:
      ExecuteCallBlock(statement, scope);
      break;
    case StatementKind::kFilterBlock:
      ExecuteFilterBlock(statement, scope);
      break;
    case StatementKind::kWith:
      ExecuteWith(statement, scope);
      break;
    case StatementKind::kScope:
      return Execute(statement.bodies[0], std::make_shared<Scope>(scope));
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
  }
  return Flow::kNext;
}

Renderer::Flow Renderer::ExecuteIf(const Statement& statement, const ScopePtr& scope) {
  for (size_t i = 0; i < statement.expressions.size(); ++i) {
    if (Truth(Evaluate(*statement.expressions[i], scope))) return Execute(statement.bodies[i], scope);
  }
  const bool has_else = statement.bodies.size() > statement.expressions.size();
  return has_else ? Execute(statement.bodies.back(), scope) : Flow::kNext;
}

void Renderer::ExecuteFor(const Statement& statement, const ScopePtr& scope, Items items, int depth) {
  const auto loop = std::make_shared<LoopObject>(*this, statement, scope, std::move(items), depth);
  struct AtEnd {
    LoopObject& loop;
    ~AtEnd() { loop.End(); }
  } const at_end{*loop};
  bool any = false;
  ScopePtr inner;
  while (loop->Advance()) {
    any = true;
    if (inner != nullptr && inner.use_count() == 1) {
      inner->Reset();
    } else {
      inner = std::make_shared<Scope>(scope);  // a macro has kept the last one
    }
    inner->Set(program_.loop, Value::Of(std::shared_ptr<Object>(loop)));
    Assign(statement.target, loop->item(), inner);
    if (Execute(statement.bodies[0], inner) == Flow::kBreak) break;
  }
  if (!any) Execute(statement.bodies[1], std::make_shared<Scope>(scope));
}

bool Renderer::PassesCondition(const Statement& loop, const ScopePtr& outer, const Value& item) {
  const auto scope = std::make_shared<Scope>(outer);
  Assign(loop.target, item, scope);
  return Truth(Evaluate(*loop.expressions[1], scope));
}

std::string Renderer::RunLoopAgain(const Statement& loop, const ScopePtr& outer, Items items, int depth) {
  const int line = line_;
  const ScopePtr scope = outer;  // the loop that asks may end meanwhile
  Capture capture(*this);
  ExecuteFor(loop, scope, std::move(items), depth);
  line_ = line;
  return capture.Take();
}

void Renderer::ExecuteSet(const Statement& statement, const ScopePtr& scope) {
  Assign(statement.target, Evaluate(*statement.expressions[0], scope), scope);
}

std::string Renderer::CaptureBody(const Body& body, const ScopePtr& scope) {
  Capture capture(*this);
  Execute(body, scope);
  return capture.Take();
}

Value Renderer::FilterText(const Expression& filter, const ScopePtr& scope, std::string text) {
  const Value before = std::exchange(block_input_, Value::Of(std::move(text)));
  Value result = Evaluate(filter, scope);
  block_input_ = before;
  return result;
}

void Renderer::ExecuteSetBlock(const Statement& statement, const ScopePtr& scope) {
  const auto inner = std::make_shared<Scope>(scope);
  std::string text = CaptureBody(statement.bodies[0], inner);
  const ExpressionPtr& filter = statement.expressions[0];
  Assign(statement.target, filter == nullptr ? Value::Of(std::move(text)) : FilterText(*filter, inner, std::move(text)),
         scope);
}

void Renderer::ExecuteMacro(const Statement& statement, const ScopePtr& scope) {
  const auto macro = std::make_shared<MacroObject>(statement, scope);
  Keep(macro);
  scope->Set(statement.symbol, Value::Of(std::shared_ptr<Object>(macro)));
}

void Renderer::ExecuteCallBlock(const Statement& statement, const ScopePtr& scope) {
  const auto caller = std::make_shared<MacroObject>(statement, scope);
  Keep(caller);
  const CallArguments more{.positional = {}, .named = {{"caller", Value::Of(std::shared_ptr<Object>(caller))}}};
  const Value result = EvaluateCall(*statement.expressions[0], scope, &more);
  Emit(Str(result));
}

void Renderer::ExecuteFilterBlock(const Statement& statement, const ScopePtr& scope) {
  const auto inner = std::make_shared<Scope>(scope);
  Emit(Str(FilterText(*statement.expressions[0], inner, CaptureBody(statement.bodies[0], inner))));
}

void Renderer::ExecuteWith(const Statement& statement, const ScopePtr& scope) {
  const auto inner = std::make_shared<Scope>(scope);
  Items values = EvaluateAll(statement.expressions, scope);
  for (size_t i = 0; i < values.size(); ++i) Assign(statement.targets[i], std::move(values[i]), inner);
  Execute(statement.bodies[0], inner);
}

void Renderer::Assign(const Target& target, Value value, const ScopePtr& scope) {
  switch (target.kind) {
    case Target::Kind::kName:
      scope->Set(target.symbol, std::move(value));
      return;
    case Target::Kind::kTuple:
      AssignTuple(target, value, scope);
      return;
    case Target::Kind::kNamespace: {
      const Value* found = scope->Find(target.symbol);
      auto* object = found != nullptr && found->IsObject() ? dynamic_cast<NamespaceObject*>(&found->object()) : nullptr;
      if (object == nullptr) Fail("cannot assign attribute on non-namespace object");
      object->Set(target.attribute, std::move(value));
    }
  }
}

void Renderer::AssignTuple(const Target& target, const Value& value, const ScopePtr& scope) {
  Items items = Iterate(value);
  if (items.size() > target.parts.size()) {
    Fail(fmt::format("too many values to unpack (expected {})", target.parts.size()));
  }
  if (items.size() < target.parts.size()) {
    Fail(fmt::format("not enough values to unpack (expected {}, got {})", target.parts.size(), items.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) Assign(target.parts[i], std::move(items[i]), scope);
}

Value Renderer::CallMacro(const Statement& macro, const ScopePtr& definition, CallArguments& arguments) {
  const Level level(meter_);
  const int line = line_;
  const auto scope = std::make_shared<Scope>(definition);
  BindParameters(macro, scope, arguments);
  std::string text = CaptureBody(macro.bodies[0], scope);
  line_ = line;
  return Value::Of(std::move(text));
}

// Positional arguments, then named ones, then defaults; what is left over goes to varargs, kwargs and caller where the
// body uses them, and else is an error.
void Renderer::BindParameters(const Statement& macro, const ScopePtr& scope, CallArguments& arguments) {
  const Signature& signature = macro.signature;
  auto& named = arguments.named;
  const auto take = [&](std::string_view name, Value& value) {
    const auto found = std::find_if(named.begin(), named.end(), [&](const auto& each) { return each.first == name; });
    if (found == named.end()) return false;
    value = std::move(found->second);
    named.erase(found);
    return true;
  };
  const size_t count = signature.names.size(), given = std::min(arguments.positional.size(), count);
  Items values(count);
  std::vector<bool> has(count, true);
  for (size_t i = 0; i < count; ++i) {
    if (i < given) {
      values[i] = arguments.positional[i];
    } else {
      has[i] = take(signature.names[i], values[i]);
    }
  }
  const bool explicit_caller =
      std::find(signature.names.begin(), signature.names.end(), "caller") != signature.names.end();
  if (signature.uses_caller && !explicit_caller) {
    Value caller = Value::MakeUndefined("No caller defined");
    take("caller", caller);
    scope->Set(program_.caller, std::move(caller));
  }
  if (signature.uses_kwargs) {
    Dict rest;
    for (auto& [name, value] : named) rest.Set(Value::Of(name), value);
    scope->Set(program_.kwargs, Value::Of(std::move(rest)));
  } else if (!named.empty()) {
    Fail(fmt::format("macro '{}' takes no keyword argument '{}'", macro.text, named[0].first));
  }
  if (signature.uses_varargs) {
    const auto rest = arguments.positional.begin() + static_cast<std::ptrdiff_t>(given);
    scope->Set(program_.varargs, Value::Tuple(Items(rest, arguments.positional.end())));
  } else if (arguments.positional.size() > count) {
    Fail(fmt::format("macro '{}' takes not more than {} argument(s)", macro.text, count));
  }
  const size_t first_default = count - signature.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    if (!has[i] && i >= first_default) {
      values[i] = Evaluate(*signature.defaults[i - first_default], scope);
    } else if (!has[i]) {
      values[i] = Value::MakeUndefined(fmt::format("parameter '{}' was not provided", signature.names[i]));
    }
    scope->Set(signature.symbols[i], std::move(values[i]));
  }
}

}  // namespace ekvi::jinja
