// The JSON that --json prints: one object that begins alike for every command, fields only ever added. And the way in
// for JSON that users give to the program itself.
#pragma once

#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "ekvi/model.h"

namespace ekvi::cli {

using Json = nlohmann::ordered_json;

// {"schema": "ekvi.generate/1", "version", "build", "machine", "model", "params"}; `model` may be null. "params" holds
// every option of the command that has a value, with its JSON type.
Json ReportFor(const Arguments& arguments, const Model* model);

// Copies members of report["results"] beside it, where they stood first.
void RepeatAtTop(Json& report, std::initializer_list<const char*> names);

// One line with a line feed, always valid UTF-8: bytes that are not become U+FFFD. NaN and infinities become null.
std::string JsonText(const Json& json);

// Discarded (is_discarded) where `text` is no JSON, has a NUL byte, or nests more than 32 deep: nothing that the
// program reads does, and the library would copy and print such values by recursion.
Json GivenJson(std::string_view text);

// "0.1.0", "gcc 12.2.0 x86_64".
std::string_view Version();
std::string_view Build();

}  // namespace ekvi::cli
