// Expressions, by Jinja's grammar: from `a if b else c` down to names and literals.
#pragma once

#include <string>
#include <string_view>

#include "jinja/parser_state.h"

namespace ekvi::jinja {

class ExpressionParser {
 public:
  explicit ExpressionParser(ParserState& state) : state_(state) {}

  // `a if b else c` is one expression where conditions are allowed.
  enum class Conditions { kAllowed, kNot };
  ExpressionPtr Parse(Conditions conditions = Conditions::kAllowed);
  // One expression, or a tuple of them where commas follow; ends before `end_name` too.
  ExpressionPtr ParseTuple(Conditions conditions = Conditions::kAllowed, std::string_view end_name = "");
  // `| a | b(1)` on `input`; a first filter without its bar where asked. Null where there is no filter.
  enum class First { kBar, kInline };
  ExpressionPtr ParseFilters(ExpressionPtr input, First first);

  // A node over what it is made of, with its height checked.
  ExpressionPtr Make(ExpressionKind kind, int line, std::vector<ExpressionPtr> operands = {});

 private:
  ExpressionPtr ParseCondition();
  ExpressionPtr ParseOr();
  ExpressionPtr ParseAnd();
  ExpressionPtr ParseNot();
  ExpressionPtr ParseCompare();
  ExpressionPtr ParseBinary(int level);
  ExpressionPtr ParseConcat();
  enum class Filters { kToo, kNot };
  ExpressionPtr ParseUnary(Filters filters);
  ExpressionPtr ParsePrimary();
  ExpressionPtr ParseName();
  ExpressionPtr ParseParentheses();
  ExpressionPtr ParseList();
  ExpressionPtr ParseDict();
  ExpressionPtr ParsePostfix(ExpressionPtr node);
  ExpressionPtr ParseFiltersAndTests(ExpressionPtr node);
  ExpressionPtr ParseFilter(ExpressionPtr input);
  ExpressionPtr ParseTest(ExpressionPtr node);
  ExpressionPtr ParseSubscript(ExpressionPtr node);
  ExpressionPtr ParseSliceOrItem(ExpressionPtr node, int line);
  ExpressionPtr ParseCall(ExpressionPtr callee);
  CallNode ParseCallArguments();
  void ParseCallArgument(CallNode& call, int line);
  bool AtTupleEnd(std::string_view end_name) const;
  bool AtTestArgument() const;
  std::string ParseDottedName();
  void Finish(Expression& node);

  ParserState& state_;
};

}  // namespace ekvi::jinja
