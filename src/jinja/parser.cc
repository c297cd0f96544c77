// Statements, by Jinja's grammar; expressions are in parser_expressions.cc.
#include "jinja/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "jinja/failure.h"
#include "jinja/parser_expressions.h"

namespace ekvi::jinja {
namespace {

using EndNames = std::initializer_list<std::string_view>;
using StatementPtr = std::unique_ptr<Statement>;

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : state_(std::move(tokens)), expressions_(state_) {}

  Program Run() {
    Program program;
    program.loop = state_.Intern("loop");
    program.caller = state_.Intern("caller");
    program.varargs = state_.Intern("varargs");
    program.kwargs = state_.Intern("kwargs");
    program.body = ParseBody({});
    program.symbols = state_.TakeSymbols();
    return program;
  }

 private:
  using Conditions = ExpressionParser::Conditions;

  StatementPtr Make(StatementKind kind, int line) {
    auto statement = std::make_unique<Statement>();
    statement->kind = kind;
    statement->line = line;
    return statement;
  }

  // Up to a block that begins with one of `ends`, which is left standing at that name; to the end where there are none.
  Body ParseBody(EndNames ends) {
    const ParserState::Nesting nesting(state_);
    const int line = state_.line();
    Body body;
    while (state_.current().kind != TokenKind::kEnd) {
      const Token& token = state_.current();
      if (token.kind == TokenKind::kData) {
        body.push_back(Make(StatementKind::kData, token.line));
        body.back()->text = token.text;
        state_.Next();
      } else if (token.kind == TokenKind::kVariableBegin) {
        body.push_back(ParseOutput());
      } else {
        state_.Expect(TokenKind::kBlockBegin);
        if (AtEnd(ends)) return body;
        body.push_back(ParseStatement());
        state_.Expect(TokenKind::kBlockEnd);
      }
    }
    if (ends.size() > 0) {
      state_.FailAt(line, fmt::format("unexpected end of template, '{}' is missing", *(ends.end() - 1)));
    }
    return body;
  }

  bool AtEnd(EndNames ends) const {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view name) { return state_.current().IsName(name); });
  }

  // A body behind the end of its block's tag, and the end name.
  Body ParseBlockBody(std::string_view end) {
    state_.Expect(TokenKind::kBlockEnd);
    Body body = ParseBody({end});
    state_.ExpectName(end);
    return body;
  }

  StatementPtr ParseOutput() {
    StatementPtr statement = Make(StatementKind::kOutput, state_.line());
    state_.Expect(TokenKind::kVariableBegin);
    statement->expressions.push_back(expressions_.ParseTuple());
    state_.Expect(TokenKind::kVariableEnd);
    return statement;
  }

  StatementPtr ParseStatement() {
    struct Tag {
      std::string_view name;
      StatementPtr (Parser::*parse)(int line);
    };
    static constexpr Tag kTags[] = {
        {"if", &Parser::ParseIf},
        {"for", &Parser::ParseFor},
        {"set", &Parser::ParseSet},
        {"macro", &Parser::ParseMacro},
        {"call", &Parser::ParseCallBlock},
        {"filter", &Parser::ParseFilterBlock},
        {"with", &Parser::ParseWith},
        {"generation", &Parser::ParseGeneration},
        {"block", &Parser::ParseNamedBlock},
        {"autoescape", &Parser::ParseAutoescape},
        {"print", &Parser::ParsePrint},
        {"break", &Parser::ParseBreak},
        {"continue", &Parser::ParseContinue},
    };
    const int line = state_.line();
    const std::string name = state_.ExpectAnyName();
    for (const Tag& tag : kTags) {
      if (tag.name == name) return (this->*tag.parse)(line);
    }
    for (const std::string_view loads : {"include", "import", "from", "extends"}) {
      if (name == loads) Refuse(line, fmt::format("'{}': a chat template cannot load another template", name));
    }
    state_.FailAt(line, fmt::format("unknown tag '{}'", name));
  }

  [[noreturn]] static void Refuse(int line, std::string message) {
    throw Failure{.code = ErrorCode::kUnsupported, .message = std::move(message), .line = line};
  }

  StatementPtr ParseIf(int line) {
    StatementPtr statement = Make(StatementKind::kIf, line);
    while (true) {
      statement->expressions.push_back(expressions_.ParseTuple(Conditions::kNot));
      state_.Expect(TokenKind::kBlockEnd);
      statement->bodies.push_back(ParseBody({"elif", "else", "endif"}));
      if (!state_.SkipName("elif")) break;
    }
    if (state_.SkipName("else")) {
      state_.Expect(TokenKind::kBlockEnd);
      statement->bodies.push_back(ParseBody({"endif"}));
    }
    state_.ExpectName("endif");
    return statement;
  }

  StatementPtr ParseFor(int line) {
    StatementPtr statement = Make(StatementKind::kFor, line);
    statement->target = ParseTarget("in");
    state_.ExpectName("in");
    statement->expressions.push_back(expressions_.ParseTuple(Conditions::kNot, "recursive"));
    statement->expressions.push_back(state_.SkipName("if") ? expressions_.Parse() : nullptr);
    statement->recursive = state_.SkipName("recursive");
    state_.Expect(TokenKind::kBlockEnd);
    ++loops_;
    statement->bodies.push_back(ParseBody({"else", "endfor"}));
    --loops_;
    statement->bodies.emplace_back();
    if (state_.SkipName("else")) {
      state_.Expect(TokenKind::kBlockEnd);
      statement->bodies[1] = ParseBody({"endfor"});
    }
    state_.ExpectName("endfor");
    return statement;
  }

  StatementPtr ParseSet(int line) {
    StatementPtr statement = Make(StatementKind::kSet, line);
    statement->target = ParseTarget("");
    if (state_.SkipSign("=")) {
      statement->expressions.push_back(expressions_.ParseTuple());
      return statement;
    }
    statement->kind = StatementKind::kSetBlock;
    statement->expressions.push_back(expressions_.ParseFilters(nullptr, ExpressionParser::First::kBar));
    statement->bodies.push_back(ParseOutsideLoops([&] { return ParseBlockBody("endset"); }));
    return statement;
  }

  // A name, name.attribute, (a, b), or a, b up to `end_name`.
  Target ParseTarget(std::string_view end_name) {
    const ParserState::Nesting nesting(state_);
    Target first = ParseOneTarget();
    if (!state_.current().IsSign(",")) return first;
    Target tuple{.kind = Target::Kind::kTuple};
    tuple.parts.push_back(std::move(first));
    while (state_.SkipSign(",")) {
      const Token& token = state_.current();
      const bool at_end = token.IsSign("=") || token.IsSign(")") || token.kind == TokenKind::kBlockEnd ||
                          (!end_name.empty() && token.IsName(end_name));
      if (at_end) break;
      tuple.parts.push_back(ParseOneTarget());
    }
    return tuple;
  }

  Target ParseOneTarget() {
    if (state_.SkipSign("(")) {
      Target target = ParseTarget("");
      state_.ExpectSign(")");
      return target;
    }
    const int line = state_.line();
    const std::string name = state_.ExpectAnyName();
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (name == constant) state_.FailAt(line, fmt::format("can't assign to '{}'", name));
    }
    Target target{.symbol = state_.Intern(name)};
    if (state_.SkipSign(".")) {
      target.kind = Target::Kind::kNamespace;
      target.attribute = state_.ExpectAnyName();
    }
    return target;
  }

  void ParseSignature(Signature& signature) {
    state_.ExpectSign("(");
    while (!state_.current().IsSign(")")) {
      if (!signature.names.empty()) state_.ExpectSign(",");
      const int line = state_.line();
      std::string name = state_.ExpectAnyName();
      if (state_.SkipSign("=")) {
        signature.defaults.push_back(expressions_.Parse());
      } else if (!signature.defaults.empty()) {
        state_.FailAt(line, "non-default argument follows default argument");
      }
      signature.symbols.push_back(state_.Intern(name));
      signature.names.push_back(std::move(name));
    }
    state_.ExpectSign(")");
  }

  // What a macro's body uses is noted on its signature; loops around it do not reach into it.
  template <typename Parse>
  Body ParseMacroBody(Signature& signature, Parse parse) {
    state_.open_macros().push_back(&signature);
    Body body = ParseOutsideLoops(parse);
    state_.open_macros().pop_back();
    return body;
  }

  template <typename Parse>
  Body ParseOutsideLoops(Parse parse) {
    const int loops = std::exchange(loops_, 0);
    Body body = parse();
    loops_ = loops;
    return body;
  }

  StatementPtr ParseMacro(int line) {
    StatementPtr statement = Make(StatementKind::kMacro, line);
    statement->text = state_.ExpectAnyName();
    statement->symbol = state_.Intern(statement->text);
    ParseSignature(statement->signature);
    statement->bodies.push_back(ParseMacroBody(statement->signature, [&] { return ParseBlockBody("endmacro"); }));
    return statement;
  }

  StatementPtr ParseCallBlock(int line) {
    StatementPtr statement = Make(StatementKind::kCallBlock, line);
    statement->text = "caller";
    if (state_.current().IsSign("(")) ParseSignature(statement->signature);
    statement->expressions.push_back(expressions_.Parse());
    if (statement->expressions[0]->kind != ExpressionKind::kCall) state_.FailAt(line, "expected call");
    statement->bodies.push_back(ParseMacroBody(statement->signature, [&] { return ParseBlockBody("endcall"); }));
    return statement;
  }

  StatementPtr ParseFilterBlock(int line) {
    StatementPtr statement = Make(StatementKind::kFilterBlock, line);
    statement->expressions.push_back(expressions_.ParseFilters(nullptr, ExpressionParser::First::kInline));
    statement->bodies.push_back(ParseOutsideLoops([&] { return ParseBlockBody("endfilter"); }));
    return statement;
  }

  StatementPtr ParseWith(int line) {
    StatementPtr statement = Make(StatementKind::kWith, line);
    while (state_.current().kind != TokenKind::kBlockEnd) {
      if (!statement->targets.empty()) state_.ExpectSign(",");
      statement->targets.push_back(ParseOneTarget());
      state_.ExpectSign("=");
      statement->expressions.push_back(expressions_.Parse());
    }
    statement->bodies.push_back(ParseBlockBody("endwith"));
    return statement;
  }

  // What training reads; for text it is its body.
  StatementPtr ParseGeneration(int line) {
    StatementPtr statement = Make(StatementKind::kScope, line);
    statement->bodies.push_back(ParseOutsideLoops([&] { return ParseBlockBody("endgeneration"); }));
    return statement;
  }

  // Without inheritance a block is its body.
  StatementPtr ParseNamedBlock(int line) {
    StatementPtr statement = Make(StatementKind::kScope, line);
    const std::string name = state_.ExpectAnyName();
    state_.SkipName("scoped");
    statement->bodies.push_back(ParseOutsideLoops([&] { return ParseBlockBody("endblock"); }));
    state_.SkipName(name);
    return statement;
  }

  StatementPtr ParseAutoescape(int line) {
    StatementPtr statement = Make(StatementKind::kScope, line);
    if (!state_.SkipName("false") && !state_.SkipName("False")) {
      Refuse(line, "'autoescape': a chat template's text is never escaped by itself");
    }
    statement->bodies.push_back(ParseBlockBody("endautoescape"));
    return statement;
  }

  StatementPtr ParsePrint(int line) {
    StatementPtr statement = Make(StatementKind::kOutput, line);
    while (state_.current().kind != TokenKind::kBlockEnd) {
      if (!statement->expressions.empty()) state_.ExpectSign(",");
      statement->expressions.push_back(expressions_.Parse());
    }
    return statement;
  }

  StatementPtr ParseLoopControl(StatementKind kind, int line, std::string_view name) {
    if (loops_ == 0) state_.FailAt(line, fmt::format("'{}' outside of a loop", name));
    return Make(kind, line);
  }
  StatementPtr ParseBreak(int line) { return ParseLoopControl(StatementKind::kBreak, line, "break"); }
  StatementPtr ParseContinue(int line) { return ParseLoopControl(StatementKind::kContinue, line, "continue"); }

  ParserState state_;
  ExpressionParser expressions_;
  int loops_ = 0;
};

}  // namespace

Program ParseTemplate(std::string_view source) { return Parser(Tokenize(source)).Run(); }

}  // namespace ekvi::jinja
