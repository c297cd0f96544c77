// Where a byte string stops being UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <cstddef>
#include <string_view>

namespace ekvi::engine {

// Bytes of the longest prefix of `text` that is whole, valid characters; text.size() where all of it is.
size_t ValidUtf8Prefix(std::string_view text);

}  // namespace ekvi::engine
