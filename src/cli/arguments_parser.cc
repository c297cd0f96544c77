// The grammar of a command line, one word after the other. It is written here rather than taken from a library, since
// the table of options already knows all that one would have to be told again, and since values must arrive as they
// were typed (prompts such as "[INST] a, b [/INST]" or "" included).
#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/format.h"
#include "cli/suggest.h"
#include "ekvi/error.h"

namespace ekvi::cli {

class Arguments::Parser {
 public:
  Parser(Arguments* result, std::span<const std::string> words)
      : result_(*result), command_(*result->command_), words_(words) {}

  void Run() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (only_arguments_ || word.size() < 2 || word[0] != '-') {
        result_.positional_.push_back(word);
      } else if (word == "--") {
        only_arguments_ = true;
      } else if (word[1] == '-') {
        ReadLong(word);
      } else {
        ReadLetters(word);
      }
    }
    CheckArgumentCount();
  }

 private:
  void ReadLong(std::string_view word) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals).substr(2);
    const Option* option = command_.Find(name);
    if (option == nullptr) RefuseUnknown(word.substr(0, equals));
    if (equals == std::string_view::npos) {
      Store(*option, option->kind == ValueKind::kFlag ? "" : NextWord(*option));
    } else if (option->kind == ValueKind::kFlag) {
      Refuse(fmt::format("{} takes no value", LongName(*option)),
             fmt::format("got {}", Quoted(word.substr(equals + 1))), LongName(*option));
    } else {
      Store(*option, word.substr(equals + 1));
    }
  }

  void ReadLetters(std::string_view word) {
    for (size_t at = 1; at < word.size(); ++at) {
      const Option* option = command_.Find(word[at]);
      if (option == nullptr) RefuseUnknown(at == 1 ? word : fmt::format("-{}", word[at]));
      if (option->kind == ValueKind::kFlag) {
        Store(*option, "");
        continue;
      }
      const std::string_view rest = word.substr(at + 1);
      Store(*option, rest.empty() ? NextWord(*option) : rest);
      return;
    }
  }

  std::string_view NextWord(const Option& option) {
    if (next_ < words_.size()) return words_[next_++];
    Refuse(fmt::format("{} needs a value", LongName(option)), std::string(option.help),
           fmt::format("{} {}", LongName(option), ValueName(option)));
  }

  void Store(const Option& option, std::string_view text) {
    if (option.kind != ValueKind::kFlag) CheckValue(option, text, LongName(option));
    Value& value = result_.values_[std::string(option.name)];
    if (option.repeat == Repeat::kLast) value.texts.clear();
    value.source = Source::kFlag;
    value.texts.emplace_back(text);
  }

  void CheckArgumentCount() const {
    const size_t count = result_.positional_.size();
    if (count <= static_cast<size_t>(command_.arguments_max)) return;
    const std::string& extra = result_.positional_[static_cast<size_t>(command_.arguments_max)];
    Refuse(
        fmt::format("{} takes {}, got {}", command_.name,
                    command_.arguments_max == 0 ? "no argument" : CountOf(command_.arguments_max, "argument"), count),
        fmt::format("the first too many is {}", Quoted(extra)),
        command_.arguments_max == 0 ? Usage() : "put quotes around text with blanks");
  }

  [[noreturn]] void RefuseUnknown(std::string_view word) const {
    std::vector<std::string> names;
    for (const OptionGroup& group : command_.groups) {
      for (const Option& option : group.options) names.push_back(LongName(option));
    }
    const auto meant = word.size() > 2 ? Closest(word, names) : std::nullopt;
    const std::string hint = meant ? fmt::format("did you mean {}?", *meant) : Usage();
    Refuse(fmt::format("{} has no option {}", command_.name, Quoted(word)), "",
           hint + " (text that begins with - follows --)");
  }

  [[noreturn]] void Refuse(std::string what, std::string numbers, std::string hint = "") const {
    throw Error(ErrorCode::kInvalidArgument, std::move(what), std::move(numbers), std::move(hint));
  }

  std::string Usage() const { return fmt::format("ekvi help {}", command_.name); }

  Arguments& result_;
  const Command& command_;
  std::span<const std::string> words_;
  size_t next_ = 0;
  bool only_arguments_ = false;
};

Arguments Arguments::Parse(const Command& command, std::span<const std::string> words,
                           const EnvironmentReader& environment) {
  Arguments result(&command);
  Parser(&result, words).Run();
  result.ReadEnvironment(environment);
  return result;
}

}  // namespace ekvi::cli
