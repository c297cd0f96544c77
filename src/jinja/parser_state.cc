#include "jinja/parser_state.h"

#include <fmt/format.h>

#include "jinja/failure.h"
#include "jinja/parser.h"

namespace ekvi::jinja {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kData:
      return "text of the template";
    case TokenKind::kVariableBegin:
      return "'{{'";
    case TokenKind::kVariableEnd:
      return "'}}'";
    case TokenKind::kBlockBegin:
      return "'{%'";
    case TokenKind::kBlockEnd:
      return "'%}'";
    case TokenKind::kInteger:
      return fmt::format("'{}'", token.integer);
    case TokenKind::kFloat:
      return fmt::format("'{}'", token.number);
    case TokenKind::kEnd:
      return "end of template";
    default:
      return fmt::format("'{}'", token.text.substr(0, 60));
  }
}

ParserState::ParserState(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

bool ParserState::SkipSign(std::string_view sign) {
  if (!current().IsSign(sign)) return false;
  Next();
  return true;
}

bool ParserState::SkipName(std::string_view name) {
  if (!current().IsName(name)) return false;
  Next();
  return true;
}

void ParserState::ExpectSign(std::string_view sign) {
  if (!SkipSign(sign)) FailAt(line(), fmt::format("expected '{}', got {}", sign, Describe(current())));
}

void ParserState::ExpectName(std::string_view name) {
  if (!SkipName(name)) FailAt(line(), fmt::format("expected '{}', got {}", name, Describe(current())));
}

std::string ParserState::ExpectAnyName() {
  if (current().kind != TokenKind::kName) FailAt(line(), fmt::format("expected a name, got {}", Describe(current())));
  std::string name = current().text;
  Next();
  return name;
}

void ParserState::Expect(TokenKind kind) {
  if (current().kind != kind) {
    FailAt(line(), fmt::format("expected {}, got {}", Describe({.kind = kind}), Describe(current())));
  }
  Next();
}

void ParserState::FailAt(int line, std::string message) const {
  throw Failure{.message = std::move(message), .line = line};
}

void ParserState::FailUnexpected() const { FailAt(line(), "unexpected " + Describe(current())); }

Symbol ParserState::Intern(const std::string& name) {
  const auto [found, added] = symbols_.emplace(name, static_cast<Symbol>(names_.size()));
  if (added) names_.push_back(name);
  return found->second;
}

void ParserState::NoteUse(Symbol symbol) {
  const std::string& name = names_[symbol];
  if (name != "varargs" && name != "kwargs" && name != "caller") return;
  for (Signature* macro : open_macros_) {
    macro->uses_varargs |= name == "varargs";
    macro->uses_kwargs |= name == "kwargs";
    macro->uses_caller |= name == "caller";
  }
}

ParserState::Nesting::Nesting(ParserState& state) : state_(state) {
  if (++state_.nesting_ <= kMaxNesting) return;
  --state_.nesting_;
  throw Failure{.code = ErrorCode::kUnsupported,
                .message = fmt::format("the template nests more than {} deep", kMaxNesting),
                .line = state_.line()};
}

}  // namespace ekvi::jinja
