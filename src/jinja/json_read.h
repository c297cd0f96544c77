// JSON to values; dicts keep the order of their keys.
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

// Throws Failure(kInvalidArgument), naming `name`, for what is no JSON, nests deeper than values may, or has integers
// of more than 64 bits.
Value ReadJson(std::string_view text, std::string_view name);

}  // namespace ekvi::jinja
