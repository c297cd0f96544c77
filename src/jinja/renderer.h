// Walks a template's tree: one rendering, one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/ast.h"
#include "jinja/dict.h"
#include "jinja/meter.h"
#include "jinja/scope.h"

namespace ekvi::jinja {

struct RenderSettings {
  std::function<std::string(std::string_view)> strftime_now;  // the time now in a format
  Limits limits;
};

class Renderer {
 public:
  // The program must outlive it.
  Renderer(const Program& program, RenderSettings settings);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  // The template's text. Once. Throws Failure with its line.
  std::string Run(const Dict& variables);

  // For filters, tests, functions and objects.
  Value Call(const Value& callee, CallArguments& arguments);
  Value CallFilter(const std::string& name, const Value& input, const CallArguments& arguments);
  bool CallTest(const std::string& name, const Value& input, const CallArguments& arguments);
  const RenderSettings& settings() const { return settings_; }
  // An object that may refer to itself: it is cleared when all is done.
  void Keep(std::shared_ptr<Object> object) { kept_.push_back(std::move(object)); }

  // For macros and loops.
  using ScopePtr = std::shared_ptr<Scope>;
  Value CallMacro(const Statement& macro, const ScopePtr& definition, CallArguments& arguments);
  // The text of a loop's body over `items`, as a recursive loop asks for it.
  std::string RunLoopAgain(const Statement& loop, const ScopePtr& outer, Items items, int depth);
  bool PassesCondition(const Statement& loop, const ScopePtr& outer, const Value& item);

 private:
  enum class Flow { kNext, kBreak, kContinue };
  class Level;
  class Capture;

  // renderer.cc: statements.
  Flow Execute(const Body& body, const ScopePtr& scope);
  Flow ExecuteOne(const Statement& statement, const ScopePtr& scope);
  Flow ExecuteIf(const Statement& statement, const ScopePtr& scope);
  void ExecuteFor(const Statement& statement, const ScopePtr& scope, Items items, int depth);
  void ExecuteSet(const Statement& statement, const ScopePtr& scope);
  void ExecuteSetBlock(const Statement& statement, const ScopePtr& scope);
  void ExecuteMacro(const Statement& statement, const ScopePtr& scope);
  void ExecuteCallBlock(const Statement& statement, const ScopePtr& scope);
  void ExecuteFilterBlock(const Statement& statement, const ScopePtr& scope);
  void ExecuteWith(const Statement& statement, const ScopePtr& scope);
  std::string CaptureBody(const Body& body, const ScopePtr& scope);
  Value FilterText(const Expression& filter, const ScopePtr& scope, std::string text);
  void Assign(const Target& target, Value value, const ScopePtr& scope);
  void AssignTuple(const Target& target, const Value& value, const ScopePtr& scope);
  void BindParameters(const Statement& macro, const ScopePtr& scope, CallArguments& arguments);
  void Emit(std::string_view text);

  // evaluate.cc: expressions.
  Value Evaluate(const Expression& expression, const ScopePtr& scope);
  Value EvaluateName(const Expression& expression, const ScopePtr& scope);
  Value EvaluateDict(const Expression& expression, const ScopePtr& scope);
  Value EvaluateCompare(const Expression& expression, const ScopePtr& scope);
  Value EvaluateConcat(const Expression& expression, const ScopePtr& scope);
  Value EvaluateCondition(const Expression& expression, const ScopePtr& scope);
  Value EvaluateSlice(const Expression& expression, const ScopePtr& scope);
  Value EvaluateCall(const Expression& expression, const ScopePtr& scope, const CallArguments* more = nullptr);
  Value EvaluateFilter(const Expression& expression, const ScopePtr& scope);
  Value EvaluateTest(const Expression& expression, const ScopePtr& scope);
  Items EvaluateAll(const std::vector<ExpressionPtr>& expressions, const ScopePtr& scope);
  CallArguments EvaluateArguments(const CallNode& call, const ScopePtr& scope);

  Meter meter_;  // first: what takes from it goes before it
  const Program& program_;
  RenderSettings settings_;
  Capture* output_ = nullptr;
  Value block_input_;  // what the first filter of a block's chain is applied to
  int line_ = 1;
  std::vector<std::shared_ptr<Object>> kept_;
};

// Counts one nested evaluation, which is a step too.
class Renderer::Level {
 public:
  explicit Level(Meter& meter) : meter_(meter) {
    meter_.Step();
    meter_.Enter();
  }
  ~Level() { meter_.Leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Meter& meter_;
};

// Sends what is emitted to a text of its own, which is on the account while it grows.
class Renderer::Capture {
 public:
  explicit Capture(Renderer& renderer) : renderer_(renderer), before_(renderer.output_) { renderer_.output_ = this; }
  ~Capture() {
    renderer_.output_ = before_;
    renderer_.meter_.Give(charged_);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  void Add(std::string_view text);
  // The text, off the account; nothing is added after it.
  std::string Take();

 private:
  Renderer& renderer_;
  Capture* before_;
  std::string text_;
  uint64_t charged_ = 0;
};

}  // namespace ekvi::jinja
