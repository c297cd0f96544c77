// Tests (`x is defined`) by name.
#pragma once

#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

using TestFunction = bool (*)(Renderer& renderer, const Value& input, const CallArguments& arguments);

// Null where there is none of that name.
TestFunction FindTest(std::string_view name);

}  // namespace ekvi::jinja
