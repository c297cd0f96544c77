// What the parsers of expressions and of statements share: the tokens, the names, how deep they are.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/ast.h"
#include "jinja/lexer.h"

namespace ekvi::jinja {

class ParserState {
 public:
  explicit ParserState(std::vector<Token> tokens);

  const Token& current() const { return tokens_[at_]; }
  const Token& Look(size_t ahead = 1) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  int line() const { return current().line; }
  void Next() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  // Goes on where the token is that sign or name.
  bool SkipSign(std::string_view sign);
  bool SkipName(std::string_view name);
  void ExpectSign(std::string_view sign);
  void ExpectName(std::string_view name);
  std::string ExpectAnyName();
  void Expect(TokenKind kind);

  [[noreturn]] void FailAt(int line, std::string message) const;
  [[noreturn]] void FailUnexpected() const;

  Symbol Intern(const std::string& name);
  std::vector<std::string> TakeSymbols() { return std::move(names_); }

  // Each name that is read, for macros that ask what their body uses.
  void NoteUse(Symbol symbol);
  std::vector<Signature*>& open_macros() { return open_macros_; }

  class Nesting {
   public:
    explicit Nesting(ParserState& state);
    ~Nesting() { --state_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ParserState& state_;
  };

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::vector<std::string> names_;
  std::vector<Signature*> open_macros_;
};

// "end of template", "'endif'": how messages call a token.
std::string Describe(const Token& token);

}  // namespace ekvi::jinja
