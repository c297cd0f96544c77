// The JSON of a conversation: what /save writes, /load and --load read, and `ekvi template --input` takes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/report.h"
#include "ekvi/conversation.h"

namespace ekvi::cli {

// [{"role": …, "content": …}, …].
Json MessagesJson(std::span<const ChatMessage> messages);
// {"messages": MessagesJson}, indented, with a line feed. Bytes that are no UTF-8 become U+FFFD.
std::string SavedText(std::span<const ChatMessage> messages);
// Error(kCorrupt) with `name` for what SavedText does not write.
std::vector<ChatMessage> ParseMessages(std::string_view json, const std::string& name);

}  // namespace ekvi::cli
