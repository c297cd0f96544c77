// Where models keep their chat template, and the names of the tokens that it writes. As text: what the language of
// templates is, src/jinja knows.
#pragma once

#include <filesystem>

#include "ekvi/chat_template.h"

namespace ekvi::text {

// Of a GGUF file, one of several parts or not, whose weights need not be there; and of a folder of the hub. Errors of
// both as FindChatTemplate.
ModelTemplate GgufChatTemplate(const std::filesystem::path& path);
ModelTemplate HfChatTemplate(const std::filesystem::path& folder);

}  // namespace ekvi::text
