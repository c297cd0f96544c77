// JSON as Python's json.dumps writes it.
#pragma once

#include <optional>
#include <string>

#include "jinja/value.h"

namespace ekvi::jinja {

struct JsonStyle {
  std::optional<std::string> indent;  // what each level begins a line with; none: one line
  std::string item_separator = ", ", key_separator = ": ";
  bool ascii = false;  // escapes for what is not ASCII
  bool sort_keys = false;
};

// Fails for what JSON has no form of: undefined, iterators, namespaces.
std::string WriteJson(const Value& value, const JsonStyle& style);

}  // namespace ekvi::jinja
