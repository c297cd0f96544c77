// Keeps what messages say apart from what a template writes around it: names of control tokens in contents stay text.
//
// A template may cut, trim and move contents, so places in them mean nothing afterwards. A mark that no content holds,
// put behind the first character of each name in a content, travels with that character: where the template's text has
// a mark, the character before it was said by somebody, and no control token may reach into it. Contents without such
// names, which are nearly all, are untouched.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/tokenizer.h"

namespace ekvi::chat {

class MessageMarks {
 public:
  explicit MessageMarks(const Tokenizer& tokenizer);

  // A character of Unicode that means nothing (a noncharacter) and that none of `texts` holds. Error(kUnsupported)
  // where they hold all of them.
  static std::string FreeMark(std::span<const std::string_view> texts);

  // `content` with marks in the names of control tokens, and in what could become one with what follows the content.
  std::string Marked(std::string_view content, std::string_view mark) const;

  // The tokens of a text that a template made of marked contents.
  struct Rendered {
    std::string_view text, mark;
    EncodeOptions options;  // without `plain`
  };
  std::vector<int32_t> Encode(const Rendered& rendered) const;

 private:
  bool BeginsName(std::string_view text) const;     // some name stands at the front of `text`
  bool BeginsCutName(std::string_view text) const;  // `text` is the front of some name

  const Tokenizer& tokenizer_;
  std::vector<std::string_view> names_;               // sorted; none begins with another
  std::vector<bool> first_ = std::vector<bool>(256);  // bytes that names begin with
};

}  // namespace ekvi::chat
