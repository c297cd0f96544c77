// Values as Python writes them: str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "jinja/value.h"

namespace ekvi::jinja {

// What `{{ value }}` prints: texts as they are, nothing for undefined, else Repr.
std::string Str(const Value& value);
std::string Repr(const Value& value);
std::string ReprText(std::string_view text);
// The shortest decimal that reads back as the same double: "0.1", "1e+16", "-0.0", "inf".
std::string ReprFloat(double number);

// Appends `text` to `result` within the limits of the current meter.
void Append(std::string& result, std::string_view text);

}  // namespace ekvi::jinja
