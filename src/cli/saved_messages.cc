#include "cli/saved_messages.h"

#include <nlohmann/json.hpp>

#include "ekvi/error.h"

namespace ekvi::cli {

Json MessagesJson(std::span<const ChatMessage> messages) {
  Json array = Json::array();
  for (const ChatMessage& message : messages) {
    array.push_back({{"role", message.role}, {"content", message.content}});
  }
  return array;
}

std::string SavedText(std::span<const ChatMessage> messages) {
  const Json object{{"messages", MessagesJson(messages)}};
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<ChatMessage> ParseMessages(std::string_view json, const std::string& name) {
  const Json object = GivenJson(json);
  const bool fine = object.is_object() && object.contains("messages") && object["messages"].is_array();
  std::vector<ChatMessage> messages;
  if (fine) {
    for (const Json& each : object["messages"]) {
      const auto is_text = [&](const char* key) { return each.contains(key) && each[key].is_string(); };
      if (!each.is_object() || !is_text("role") || !is_text("content")) break;
      messages.push_back({each["role"], each["content"]});
    }
  }
  if (!fine || messages.size() != object["messages"].size()) {
    throw Error(ErrorCode::kCorrupt, name + " holds no conversation", "",
                R"(a file that /save has written: {"messages": [{"role": "user", "content": "…"}]})");
  }
  return messages;
}

}  // namespace ekvi::cli
