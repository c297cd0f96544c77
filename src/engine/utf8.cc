#include "engine/utf8.h"

#include "base/utf8.h"

namespace ekvi::engine {

size_t ValidUtf8Prefix(std::string_view text) {
  size_t valid = 0;
  while (valid < text.size()) {
    const base::Utf8Head head = base::ReadUtf8Head(text.substr(valid));
    if (head.kind != base::Utf8Kind::kCharacter) break;
    valid += head.bytes;
  }
  return valid;
}

}  // namespace ekvi::engine
