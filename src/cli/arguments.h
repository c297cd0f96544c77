// What a command was asked for: the values of its options after flags, environment and defaults, and its other
// arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace ekvi::cli {

enum class Source { kFlag, kEnvironment, kDefault };

// The value of an environment variable; null where there is none.
using EnvironmentReader = std::function<const char*(const char* name)>;

// Values are checked against the option's kind and range when parsed, so the readers below do not fail. Asking for an
// option that the command does not have is a bug (std::logic_error).
class Arguments {
 public:
  // `words` is the command line after the command's name: "--name value", "--name=value", "-n value", "-nvalue", "-qv",
  // and
  // "--", after which nothing is an option. Where a flag gives no value, EKVI_NAME does unless it is empty. Throws
  // Error(kInvalidArgument) naming the flag or the variable.
  static Arguments Parse(const Command& command, std::span<const std::string> words,
                         const EnvironmentReader& environment);

  const Command& command() const { return *command_; }
  const std::vector<std::string>& positional() const { return positional_; }

  Source source(std::string_view name) const;
  bool Given(std::string_view name) const { return source(name) != Source::kDefault; }
  // "--chunk", or "EKVI_CHUNK" where the value came from there.
  std::string Origin(std::string_view name) const;

  bool Flag(std::string_view name) const;
  std::string Text(std::string_view name) const;                // empty where there is neither value nor default
  std::optional<int64_t> Integer(std::string_view name) const;  // nothing for a word ("auto") or no value
  double Number(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;  // of a Repeat::kEach option

 private:
  struct Value {
    Source source = Source::kDefault;
    std::vector<std::string> texts;
  };
  class Parser;

  explicit Arguments(const Command* command) : command_(command) {}
  const Option& Known(std::string_view name) const;
  const Value* Find(std::string_view name) const;
  void ReadEnvironment(const EnvironmentReader& environment);

  const Command* command_;
  std::map<std::string, Value, std::less<>> values_;
  std::vector<std::string> positional_;
};

}  // namespace ekvi::cli
