// A regular expression over valid UTF-8, as tokenizers write them: Oniguruma's Ruby syntax, translated to PCRE2 and
// compiled to machine code once.
//
// The same as in Oniguruma: \s, \w, \d and \b are Unicode's White_Space, word and decimal classes, `^` and `$` stand at
// lines, `.` is anything but a line feed, (?m) lets it be that too. What means something else in PCRE2 and cannot be
// translated (intersections and negated sets in classes) is refused. Properties are those of PCRE2's Unicode version.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ekvi::text {

// What to try where a pattern is refused.
inline constexpr const char* kOtherPattern = "the model's GGUF file, which names its pre-tokenizer, or another model";

class Regex {
 public:
  // Error(kUnsupported) with the pattern and the place of what is not understood.
  explicit Regex(std::string_view pattern);

  struct Match {
    size_t begin, end;  // in bytes
  };

  // The leftmost match that begins at `from` or later; lookbehind sees what is before. `text` is valid UTF-8, `from`
  // the start of a character or text.size(). Error(kUnsupported) where the pattern needs more than 64 MiB of
  // backtracking. Safe to call from several threads.
  std::optional<Match> Find(std::string_view text, size_t from) const;

  // A walk over the successive matches of a text: none overlaps, and an empty one never touches the one before it.
  struct Walk {
    size_t from = 0;
    std::optional<size_t> last_end = std::nullopt;
    size_t number_end = 0, digits_left = 0;  // DigitGroups' own
  };
  std::optional<Match> Next(std::string_view text, Walk& walk) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

// The pattern as PCRE2 reads it; same errors as Regex. For tests.
std::string TranslateRegex(std::string_view pattern);

}  // namespace ekvi::text
