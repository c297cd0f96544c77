// The tree of a template. Built once by the parser, never changed afterwards, read by any number of renderings.
//
// Two node types with a kind each: what a kind uses of the fields stands beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jinja/filters.h"
#include "jinja/operators.h"
#include "jinja/tests.h"
#include "jinja/value.h"

namespace ekvi::jinja {

// Names of variables as numbers.
using Symbol = uint32_t;

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

enum class ExpressionKind {
  kConstant,   // constant
  kName,       // symbol
  kList,       // operands
  kTuple,      // operands
  kDict,       // operands: key, value, key, value …
  kBinary,     // operands: left, right; binary
  kCompare,    // operands: first, then one for each of comparisons
  kAnd,        // operands: left, right
  kOr,         // operands: left, right
  kNot,        // operands: one
  kNegate,     // operands: one
  kPositive,   // operands: one
  kConcat,     // operands: two and more
  kCondition,  // operands: test, then, else; no else: undefined
  kAttribute,  // operands: object; text: the name
  kItem,       // operands: object, key
  kSlice,      // operands: object, start, stop, step; null where left out
  kCall,       // operands: callee; call
  kFilter,     // operands: input (null: the body of a block); text: the name; filter; call
  kTest,       // operands: input; text: the name; test; call
};

struct CallNode {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;  // *args, **kwargs; may be null
};

struct Expression {
  ExpressionKind kind = ExpressionKind::kConstant;
  int line = 0;
  int height = 1;  // evaluations nested in it, itself included
  Value constant;
  Symbol symbol = 0;
  std::string text;
  std::vector<ExpressionPtr> operands;
  Binary binary = Binary::kAdd;
  std::vector<Comparison> comparisons;
  FilterFunction filter = nullptr;  // null: no filter of that name
  TestFunction test = nullptr;      // null: no test of that name
  CallNode call;
};

struct Statement;
using Body = std::vector<std::unique_ptr<Statement>>;

// Where a value is stored: a name, an attribute of a namespace, or several of them.
struct Target {
  enum class Kind { kName, kNamespace, kTuple };
  Kind kind = Kind::kName;
  Symbol symbol = 0;
  std::string attribute;
  std::vector<Target> parts;
};

struct Signature {
  std::vector<std::string> names;
  std::vector<Symbol> symbols;
  std::vector<ExpressionPtr> defaults;  // of the last ones
  bool uses_varargs = false, uses_kwargs = false, uses_caller = false;
};

enum class StatementKind {
  kData,         // text
  kOutput,       // expressions
  kIf,           // expressions and bodies: one each; a further body is the else
  kFor,          // target, expressions: iterable, condition (may be null); bodies: loop, else; recursive
  kSet,          // target, expressions: value
  kSetBlock,     // target, expressions: filter (may be null); bodies: one
  kMacro,        // symbol, text: its name; signature; bodies: one
  kCallBlock,    // expressions: the call; signature; bodies: one
  kFilterBlock,  // expressions: the filter; bodies: one
  kWith,         // targets, expressions: their values; bodies: one
  kScope,        // bodies: one (block, generation, autoescape)
  kBreak,
  kContinue,
};

struct Statement {
  StatementKind kind = StatementKind::kData;
  int line = 0;
  std::string text;
  Symbol symbol = 0;
  std::vector<ExpressionPtr> expressions;
  std::vector<Body> bodies;
  Target target;
  std::vector<Target> targets;
  Signature signature;
  bool recursive = false;
};

// A template: its statements and the names they use.
struct Program {
  Body body;
  std::vector<std::string> symbols;  // by Symbol
  Symbol loop = 0, caller = 0, varargs = 0, kwargs = 0;
};

}  // namespace ekvi::jinja
