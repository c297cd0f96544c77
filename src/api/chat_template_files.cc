// Where models keep their chat template.
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/mapped_file.h"
#include "ekvi/chat_template.h"
#include "ekvi/error.h"
#include "files/gguf_parts.h"

namespace ekvi {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string ReadWhole(const fs::path& path) {
  const base::MappedFile file(path);
  const auto bytes = file.bytes();
  constexpr size_t kMost = size_t{64} << 20;  // tokenizer_config.json holds added tokens, too
  if (bytes.size() > kMost) {
    throw Error(ErrorCode::kCorrupt, path.string() + " is too large",
                fmt::format("{} bytes, at most {}", bytes.size(), kMost),
                "the file of the model: it holds a template and added tokens");
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A JSON object; an empty one where the file is not there.
Json ReadObject(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return Json::object();
  Json json = Json::parse(ReadWhole(path), nullptr, false);
  if (!json.is_object())
    throw Error(ErrorCode::kCorrupt, path.string() + " is no JSON object", "", "fetch it again, or leave it out");
  return json;
}

// A text, the "content" of an object, or the template named "default" of a list.
std::string TextOf(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object() && found->contains("content") && (*found)["content"].is_string()) {
    return (*found)["content"].get<std::string>();
  }
  if (!found->is_array()) return "";
  for (const Json& each : *found) {
    const bool is_default = each.is_object() && each.value("name", Json()) == "default";
    if (is_default && each.contains("template") && each["template"].is_string()) return each["template"];
  }
  return "";
}

ModelTemplate OfFolder(const fs::path& folder) {
  const Json config = ReadObject(folder / "tokenizer_config.json");
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

// The piece of the token whose id is the value of `key`; empty where there is none.
std::string PieceOf(const files::GgufFile& file, std::string_view key) {
  const auto id = file.GetUint(key);
  const auto pieces = file.GetStrings("tokenizer.ggml.tokens");
  if (!id || !pieces || *id >= pieces->size()) return "";
  uint64_t index = 0;
  for (const std::string_view piece : *pieces) {
    if (index++ == *id) return std::string(piece);
  }
  return "";
}

ModelTemplate OfGguf(const fs::path& path) {
  const auto parts = files::GgufParts::Open(path);
  const files::GgufFile& file = parts->first();
  return {.name = path.string(),
          .source = std::string(file.GetString("tokenizer.chat_template").value_or("")),
          .begin_token = PieceOf(file, "tokenizer.ggml.bos_token_id"),
          .end_token = PieceOf(file, "tokenizer.ggml.eos_token_id")};
}

}  // namespace

ModelTemplate FindChatTemplate(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? OfFolder(path) : OfGguf(path);
}

}  // namespace ekvi
