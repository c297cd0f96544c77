// The JSON that --json prints: one object that begins alike for every command, fields only ever added.
#pragma once

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

// One line with a line feed, always valid UTF-8: bytes that are not become U+FFFD. NaN and infinities become null.
std::string JsonText(const Json& json);

// "0.1.0", "gcc 12.2.0 x86_64".
std::string_view Version();
std::string_view Build();

}  // namespace ekvi::cli
