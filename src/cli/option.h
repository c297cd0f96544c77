// One option: everything that parsing, environment, help, completion and docs/commands.md say of it comes from here.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ekvi::cli {

enum class ValueKind { kFlag, kInteger, kNumber, kText, kChoice, kPath };
enum class Repeat { kLast, kEach };         // given twice: the last one counts, or all do
enum class Environment { kRead, kIgnore };  // whether EKVI_NAME is read where the option is not given

struct Option {
  std::string_view name = "";  // "max-tokens"
  char letter = 0;             // 'n'; 0: none
  ValueKind kind = ValueKind::kFlag;
  std::string_view value = "";    // how help writes the value: "N", "auto|N"; empty for a flag or where `words` say it
  std::string_view words = "";    // words allowed beside numbers, or the only ones of a kChoice: "auto|f32|f64"
  std::string_view planned = "";  // a word that is known but that this version refuses as unsupported
  double minimum = 0;             // of kInteger and kNumber, which are finite; both inclusive unless `open`
  double maximum = std::numeric_limits<double>::infinity();
  bool open = false;               // the minimum itself is not allowed
  int64_t multiple = 1;            // of kInteger: multiples of it only
  std::string_view fallback = "";  // the default as it would be typed; empty: none
  Repeat repeat = Repeat::kLast;
  Environment environment = Environment::kRead;
  std::string_view help = "";  // one line, no full stop, at most 44 characters
};

enum class Sharing { kOwn, kShared };

struct OptionGroup {
  std::string_view title = "";
  std::span<const Option> options;
  Sharing sharing = Sharing::kOwn;  // whether other commands have the same options
  std::string_view notes = "";      // a paragraph for docs/commands.md
};

// "--max-tokens", "EKVI_MAX_TOKENS", "max_tokens"; "N", or "paged|contiguous"; "-n, --max-tokens N".
std::string LongName(const Option& option);
std::string EnvironmentName(const Option& option);
std::string JsonName(const Option& option);
std::string_view ValueName(const Option& option);
std::string Spelling(const Option& option);

// The words of "a|b|c".
std::vector<std::string_view> SplitWords(std::string_view words);

// Throws Error(kInvalidArgument), or kUnsupported for a planned word, where `text` is no value of the option. `origin`
// says in the message where the text came from: "--chunk" or "EKVI_CHUNK".
void CheckValue(const Option& option, std::string_view text, std::string_view origin);

}  // namespace ekvi::cli
