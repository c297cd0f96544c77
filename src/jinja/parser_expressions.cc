#include "jinja/parser_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "jinja/failure.h"
#include "jinja/parser.h"

namespace ekvi::jinja {
namespace {

struct Operator {
  std::string_view sign;
  Binary binary;
};
// By level: what binds weakest first; `~` stands between the first two.
constexpr std::array<Operator, 2> kSums = {{{"+", Binary::kAdd}, {"-", Binary::kSubtract}}};
constexpr std::array<Operator, 4> kProducts = {
    {{"*", Binary::kMultiply}, {"/", Binary::kDivide}, {"//", Binary::kFloorDivide}, {"%", Binary::kModulo}}};
constexpr std::array<Operator, 1> kPowers = {{{"**", Binary::kPower}}};
constexpr std::span<const Operator> kLevels[] = {kSums, kProducts, kPowers};

struct ComparisonSign {
  std::string_view sign;
  Comparison comparison;
};
constexpr ComparisonSign kComparisons[] = {{"==", Comparison::kEqual},  {"!=", Comparison::kNotEqual},
                                           {"<", Comparison::kLess},    {"<=", Comparison::kLessEqual},
                                           {">", Comparison::kGreater}, {">=", Comparison::kGreaterEqual}};

// The entry whose sign the token is; null where there is none.
template <typename Entry>
const Entry* FindSign(std::span<const Entry> entries, const Token& token) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& each) { return token.IsSign(each.sign); });
  return found == entries.end() ? nullptr : &*found;
}

int HeightOf(const ExpressionPtr& node) { return node == nullptr ? 0 : node->height; }

template <typename... Nodes>
std::vector<ExpressionPtr> Operands(Nodes... nodes) {
  std::vector<ExpressionPtr> operands;
  operands.reserve(sizeof...(nodes));
  (operands.push_back(std::move(nodes)), ...);
  return operands;
}

}  // namespace

void ExpressionParser::Finish(Expression& node) {
  int height = 0;
  const auto add = [&](const ExpressionPtr& part) { height = std::max(height, HeightOf(part)); };
  for (const ExpressionPtr& operand : node.operands) add(operand);
  for (const ExpressionPtr& argument : node.call.positional) add(argument);
  for (const auto& [name, argument] : node.call.named) add(argument);
  add(node.call.more_positional);
  add(node.call.more_named);
  node.height = height + 1;
  if (node.height <= kMaxHeight) return;
  throw Failure{.code = ErrorCode::kUnsupported,
                .message = fmt::format("an expression of more than {} nested operations", kMaxHeight),
                .line = node.line};
}

ExpressionPtr ExpressionParser::Make(ExpressionKind kind, int line, std::vector<ExpressionPtr> operands) {
  auto node = std::make_unique<Expression>();
  node->kind = kind;
  node->line = line;
  node->operands = std::move(operands);
  Finish(*node);
  return node;
}

ExpressionPtr ExpressionParser::Parse(Conditions conditions) {
  const ParserState::Nesting nesting(state_);
  return conditions == Conditions::kAllowed ? ParseCondition() : ParseOr();
}

ExpressionPtr ExpressionParser::ParseCondition() {
  int line = state_.line();
  ExpressionPtr result = ParseOr();
  while (state_.SkipName("if")) {
    ExpressionPtr test = ParseOr();
    ExpressionPtr otherwise = state_.SkipName("else") ? Parse() : nullptr;
    result = Make(ExpressionKind::kCondition, line, Operands(std::move(test), std::move(result), std::move(otherwise)));
    line = state_.line();
  }
  return result;
}

ExpressionPtr ExpressionParser::ParseOr() {
  ExpressionPtr left = ParseAnd();
  for (int line = state_.line(); state_.SkipName("or"); line = state_.line()) {
    left = Make(ExpressionKind::kOr, line, Operands(std::move(left), ParseAnd()));
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseAnd() {
  ExpressionPtr left = ParseNot();
  for (int line = state_.line(); state_.SkipName("and"); line = state_.line()) {
    left = Make(ExpressionKind::kAnd, line, Operands(std::move(left), ParseNot()));
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseNot() {
  const int line = state_.line();
  if (!state_.SkipName("not")) return ParseCompare();
  const ParserState::Nesting nesting(state_);
  return Make(ExpressionKind::kNot, line, Operands(ParseNot()));
}

ExpressionPtr ExpressionParser::ParseCompare() {
  const int line = state_.line();
  std::vector<ExpressionPtr> operands = Operands(ParseBinary(0));
  std::vector<Comparison> comparisons;
  while (true) {
    const auto* found = FindSign<ComparisonSign>(kComparisons, state_.current());
    if (found != nullptr) {
      state_.Next();
      comparisons.push_back(found->comparison);
    } else if (state_.SkipName("in")) {
      comparisons.push_back(Comparison::kIn);
    } else if (state_.current().IsName("not") && state_.Look().IsName("in")) {
      state_.Next();
      state_.Next();
      comparisons.push_back(Comparison::kNotIn);
    } else {
      break;
    }
    operands.push_back(ParseBinary(0));
  }
  if (comparisons.empty()) return std::move(operands[0]);
  ExpressionPtr node = Make(ExpressionKind::kCompare, line, std::move(operands));
  node->comparisons = std::move(comparisons);
  return node;
}

ExpressionPtr ExpressionParser::ParseBinary(int level) {
  const auto parse = [&] {
    return level == 0 ? ParseConcat() : level == 1 ? ParseBinary(2) : ParseUnary(Filters::kToo);
  };
  ExpressionPtr left = parse();
  while (const auto* found = FindSign(kLevels[level], state_.current())) {
    const int line = state_.line();
    state_.Next();
    left = Make(ExpressionKind::kBinary, line, Operands(std::move(left), parse()));
    left->binary = found->binary;
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseConcat() {
  const int line = state_.line();
  std::vector<ExpressionPtr> operands = Operands(ParseBinary(1));
  while (state_.SkipSign("~")) operands.push_back(ParseBinary(1));
  return operands.size() == 1 ? std::move(operands[0]) : Make(ExpressionKind::kConcat, line, std::move(operands));
}

ExpressionPtr ExpressionParser::ParseUnary(Filters filters) {
  const int line = state_.line();
  ExpressionPtr node;
  const bool minus = state_.current().IsSign("-");
  if (minus || state_.current().IsSign("+")) {
    const ParserState::Nesting nesting(state_);
    state_.Next();
    node = Make(minus ? ExpressionKind::kNegate : ExpressionKind::kPositive, line, Operands(ParseUnary(Filters::kNot)));
  } else {
    node = ParsePrimary();
  }
  node = ParsePostfix(std::move(node));
  return filters == Filters::kToo ? ParseFiltersAndTests(std::move(node)) : std::move(node);
}

ExpressionPtr ExpressionParser::ParsePrimary() {
  const Token& token = state_.current();
  if (token.kind == TokenKind::kName) return ParseName();
  if (token.IsSign("(")) return ParseParentheses();
  if (token.IsSign("[")) return ParseList();
  if (token.IsSign("{")) return ParseDict();
  ExpressionPtr node = Make(ExpressionKind::kConstant, token.line);
  if (token.kind == TokenKind::kInteger) {
    node->constant = Value::Of(token.integer);
  } else if (token.kind == TokenKind::kFloat) {
    node->constant = Value::Of(token.number);
  } else if (token.kind == TokenKind::kText) {
    std::string text;
    for (; state_.current().kind == TokenKind::kText; state_.Next()) text += state_.current().text;
    node->constant = Value::Of(std::move(text));
    return node;
  } else {
    state_.FailUnexpected();
  }
  state_.Next();
  return node;
}

ExpressionPtr ExpressionParser::ParseName() {
  const int line = state_.line();
  const std::string name = state_.ExpectAnyName();
  const bool is_true = name == "true" || name == "True";
  ExpressionPtr node = Make(ExpressionKind::kConstant, line);
  if (is_true || name == "false" || name == "False") {
    node->constant = Value::Of(is_true);
  } else if (name == "none" || name == "None") {
    node->constant = Value::MakeNone();
  } else {
    node->kind = ExpressionKind::kName;
    node->symbol = state_.Intern(name);
    state_.NoteUse(node->symbol);
  }
  return node;
}

ExpressionPtr ExpressionParser::ParseParentheses() {
  const int line = state_.line();
  state_.ExpectSign("(");
  ExpressionPtr node =
      state_.current().IsSign(")") ? Make(ExpressionKind::kTuple, line) : ParseTuple(Conditions::kAllowed);
  state_.ExpectSign(")");
  return node;
}

ExpressionPtr ExpressionParser::ParseList() {
  const int line = state_.line();
  std::vector<ExpressionPtr> items;
  state_.ExpectSign("[");
  while (!state_.current().IsSign("]")) {
    if (!items.empty()) state_.ExpectSign(",");
    if (state_.current().IsSign("]")) break;
    items.push_back(Parse());
  }
  state_.ExpectSign("]");
  return Make(ExpressionKind::kList, line, std::move(items));
}

ExpressionPtr ExpressionParser::ParseDict() {
  const int line = state_.line();
  std::vector<ExpressionPtr> items;
  state_.ExpectSign("{");
  while (!state_.current().IsSign("}")) {
    if (!items.empty()) state_.ExpectSign(",");
    if (state_.current().IsSign("}")) break;
    items.push_back(Parse());
    state_.ExpectSign(":");
    items.push_back(Parse());
  }
  state_.ExpectSign("}");
  return Make(ExpressionKind::kDict, line, std::move(items));
}

bool ExpressionParser::AtTupleEnd(std::string_view end_name) const {
  const Token& token = state_.current();
  if (token.kind == TokenKind::kVariableEnd || token.kind == TokenKind::kBlockEnd || token.IsSign(")")) return true;
  return !end_name.empty() && token.IsName(end_name);
}

ExpressionPtr ExpressionParser::ParseTuple(Conditions conditions, std::string_view end_name) {
  const int line = state_.line();
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!AtTupleEnd(end_name)) {
    items.push_back(Parse(conditions));
    if (!state_.SkipSign(",")) break;
    is_tuple = true;
  }
  if (is_tuple) return Make(ExpressionKind::kTuple, line, std::move(items));
  if (items.empty()) state_.FailAt(line, "expected an expression, got " + Describe(state_.current()));
  return std::move(items[0]);
}

ExpressionPtr ExpressionParser::ParsePostfix(ExpressionPtr node) {
  while (true) {
    const Token& token = state_.current();
    if (token.IsSign(".") || token.IsSign("[")) {
      node = ParseSubscript(std::move(node));
    } else if (token.IsSign("(")) {
      node = ParseCall(std::move(node));
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::ParseFiltersAndTests(ExpressionPtr node) {
  while (true) {
    const Token& token = state_.current();
    if (token.IsSign("|")) {
      node = ParseFilters(std::move(node), First::kBar);
    } else if (token.IsName("is")) {
      node = ParseTest(std::move(node));
    } else if (token.IsSign("(")) {
      node = ParseCall(std::move(node));
    } else {
      return node;
    }
  }
}

std::string ExpressionParser::ParseDottedName() {
  std::string name = state_.ExpectAnyName();
  while (state_.SkipSign(".")) name += "." + state_.ExpectAnyName();
  return name;
}

ExpressionPtr ExpressionParser::ParseFilter(ExpressionPtr input) {
  ExpressionPtr node = Make(ExpressionKind::kFilter, state_.line(), Operands(std::move(input)));
  node->text = ParseDottedName();
  node->filter = FindFilter(node->text);
  if (state_.current().IsSign("(")) node->call = ParseCallArguments();
  Finish(*node);
  return node;
}

ExpressionPtr ExpressionParser::ParseFilters(ExpressionPtr input, First first) {
  ExpressionPtr node = first == First::kInline ? ParseFilter(std::move(input)) : std::move(input);
  while (state_.SkipSign("|")) node = ParseFilter(std::move(node));
  return node;
}

// `is divisibleby 3`: one argument may follow without parentheses.
bool ExpressionParser::AtTestArgument() const {
  const Token& token = state_.current();
  if (token.kind == TokenKind::kName) {
    return !token.IsName("else") && !token.IsName("or") && !token.IsName("and");
  }
  const bool literal =
      token.kind == TokenKind::kText || token.kind == TokenKind::kInteger || token.kind == TokenKind::kFloat;
  return literal || token.IsSign("[") || token.IsSign("{");
}

ExpressionPtr ExpressionParser::ParseTest(ExpressionPtr input) {
  const int line = state_.line();
  state_.ExpectName("is");
  const bool negated = state_.SkipName("not");
  ExpressionPtr node = Make(ExpressionKind::kTest, line, Operands(std::move(input)));
  node->text = ParseDottedName();
  node->test = FindTest(node->text);
  if (state_.current().IsSign("(")) {
    node->call = ParseCallArguments();
  } else if (AtTestArgument()) {
    if (state_.current().IsName("is")) state_.FailAt(line, "tests cannot be chained with is");
    const ParserState::Nesting nesting(state_);
    node->call.positional.push_back(ParsePostfix(ParsePrimary()));
  }
  Finish(*node);
  return negated ? Make(ExpressionKind::kNot, line, Operands(std::move(node))) : std::move(node);
}

ExpressionPtr ExpressionParser::ParseSubscript(ExpressionPtr node) {
  const int line = state_.line();
  if (state_.SkipSign("[")) return ParseSliceOrItem(std::move(node), line);
  state_.ExpectSign(".");
  const Token token = state_.current();
  state_.Next();
  if (token.kind == TokenKind::kName) {
    node = Make(ExpressionKind::kAttribute, line, Operands(std::move(node)));
    node->text = token.text;
    return node;
  }
  if (token.kind != TokenKind::kInteger) state_.FailAt(token.line, "expected a name or a number after the dot");
  ExpressionPtr key = Make(ExpressionKind::kConstant, token.line);
  key->constant = Value::Of(token.integer);
  return Make(ExpressionKind::kItem, line, Operands(std::move(node), std::move(key)));
}

// [key], [a, b] (a tuple as key), [start:stop:step] with any part left out.
ExpressionPtr ExpressionParser::ParseSliceOrItem(ExpressionPtr node, int line) {
  std::vector<ExpressionPtr> parts;
  const auto at_end = [&] { return state_.current().IsSign("]") || state_.current().IsSign(":"); };
  parts.push_back(at_end() ? nullptr : Parse());
  if (state_.current().IsSign(",")) {
    while (state_.SkipSign(",")) parts.push_back(Parse());
    state_.ExpectSign("]");
    ExpressionPtr key = Make(ExpressionKind::kTuple, line, std::move(parts));
    return Make(ExpressionKind::kItem, line, Operands(std::move(node), std::move(key)));
  }
  const bool slice = state_.current().IsSign(":");
  while (parts.size() < 3 && state_.SkipSign(":")) parts.push_back(at_end() ? nullptr : Parse());
  state_.ExpectSign("]");
  if (!slice && parts[0] == nullptr) state_.FailAt(line, "expected an expression between the brackets");
  if (!slice) return Make(ExpressionKind::kItem, line, Operands(std::move(node), std::move(parts[0])));
  parts.resize(3);
  return Make(ExpressionKind::kSlice, line,
              Operands(std::move(node), std::move(parts[0]), std::move(parts[1]), std::move(parts[2])));
}

ExpressionPtr ExpressionParser::ParseCall(ExpressionPtr callee) {
  const int line = state_.line();
  ExpressionPtr node = Make(ExpressionKind::kCall, line, Operands(std::move(callee)));
  node->call = ParseCallArguments();
  Finish(*node);
  return node;
}

CallNode ExpressionParser::ParseCallArguments() {
  const int line = state_.line();
  CallNode call;
  bool first = true;
  state_.ExpectSign("(");
  while (!state_.current().IsSign(")")) {
    if (!first) state_.ExpectSign(",");
    if (state_.current().IsSign(")")) break;
    ParseCallArgument(call, line);
    first = false;
  }
  state_.ExpectSign(")");
  return call;
}

void ExpressionParser::ParseCallArgument(CallNode& call, int line) {
  const auto ensure = [&](bool fine) {
    if (!fine) state_.FailAt(line, "invalid syntax for function call expression");
  };
  if (state_.SkipSign("*")) {
    ensure(call.more_positional == nullptr && call.more_named == nullptr);
    call.more_positional = Parse();
  } else if (state_.SkipSign("**")) {
    ensure(call.more_named == nullptr);
    call.more_named = Parse();
  } else if (state_.current().kind == TokenKind::kName && state_.Look().IsSign("=")) {
    ensure(call.more_named == nullptr);
    std::string name = state_.ExpectAnyName();
    state_.ExpectSign("=");
    call.named.emplace_back(std::move(name), Parse());
  } else {
    ensure(call.more_positional == nullptr && call.more_named == nullptr && call.named.empty());
    call.positional.push_back(Parse());
  }
}

}  // namespace ekvi::jinja
