// Tokens to a tree.
#pragma once

#include <string_view>

#include "jinja/ast.h"

namespace ekvi::jinja {

// Brackets, operators and blocks in each other; past it a template is refused. Known templates stay below 25.
inline constexpr int kMaxNesting = 150;
// Operations that follow each other and so nest to the left: a + b + c …
inline constexpr int kMaxHeight = 600;

// Throws Failure with its line. Unknown filters and tests are errors only where they are used. The source is valid
// UTF-8; time and memory are linear in it.
Program ParseTemplate(std::string_view source);

}  // namespace ekvi::jinja
