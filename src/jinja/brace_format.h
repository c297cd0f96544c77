// Python's str.format and format specifications: "{:>8.2f}", "{name[0]!r}".
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

std::string BraceFormat(std::string_view format, const CallArguments& arguments);
// format(value, specification).
std::string FormatValue(const Value& value, std::string_view specification);

}  // namespace ekvi::jinja
