// chat_template.jinja, else chat_template.json, else tokenizer_config.json, where the begin and end tokens are, too.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/mapped_file.h"
#include "ekvi/error.h"
#include "files/json_value.h"
#include "text/chat_template_source.h"

namespace ekvi::text {
namespace {

namespace fs = std::filesystem;
using files::JsonKind;
using files::JsonValue;

// tokenizer_config.json holds added tokens, too: a dozen values each, and some models have ten thousand of them.
constexpr files::JsonLimits kLimits = {.bytes = size_t{64} << 20, .values = size_t{1} << 20};

std::string ReadWhole(const fs::path& path) {
  const base::MappedFile file(path);
  const auto bytes = file.bytes();
  if (bytes.size() > kLimits.bytes) {
    throw Error(ErrorCode::kCorrupt, path.string() + " is too large",
                fmt::format("{} bytes, at most {}", bytes.size(), kLimits.bytes), "the file of the model");
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A JSON object; an empty one where the file is not there.
JsonValue ReadObject(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {.kind = JsonKind::kObject};
  JsonValue json = files::ReadJson(path, kLimits);
  if (json.kind != JsonKind::kObject)
    throw Error(ErrorCode::kCorrupt, path.string() + " is no JSON object", json.ShortText(),
                "fetch it again, or leave it out");
  return json;
}

std::optional<std::string> StringOf(const JsonValue& object, std::string_view key) {
  const JsonValue* found = object.Find(key);
  if (found == nullptr || found->kind != JsonKind::kString) return {};
  return found->string;
}

// A text, the "content" of an object, or the template named "default" of a list.
std::string TextOf(const JsonValue& object, std::string_view key) {
  const JsonValue* found = object.Find(key);
  if (found == nullptr) return "";
  if (found->kind == JsonKind::kString) return found->string;
  const auto is_default = [](const JsonValue& each) { return StringOf(each, "name") == "default"; };
  const auto chosen = std::ranges::find_if(found->items, is_default);
  if (chosen != found->items.end()) return StringOf(*chosen, "template").value_or("");
  return StringOf(*found, "content").value_or("");
}

}  // namespace

ModelTemplate HfChatTemplate(const fs::path& folder) {
  const JsonValue config = ReadObject(folder / "tokenizer_config.json");
  ModelTemplate result{
      .name = {}, .source = {}, .begin_token = TextOf(config, "bos_token"), .end_token = TextOf(config, "eos_token")};
  const auto take = [&](const fs::path& path, std::string source) {
    if (!result.source.empty() || source.empty()) return;
    result.name = path.string();
    result.source = std::move(source);
  };
  const fs::path plain = folder / "chat_template.jinja";
  std::error_code ignored;
  if (fs::exists(plain, ignored)) take(plain, ReadWhole(plain));
  take(folder / "chat_template.json", TextOf(ReadObject(folder / "chat_template.json"), "chat_template"));
  take(folder / "tokenizer_config.json", TextOf(config, "chat_template"));
  return result;
}

}  // namespace ekvi::text
