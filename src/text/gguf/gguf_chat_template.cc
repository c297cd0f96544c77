// tokenizer.chat_template, and the pieces of the begin and end tokens.
#include "ekvi/error.h"
#include "files/gguf_parts.h"
#include "text/chat_template_source.h"

namespace ekvi::text {
namespace {

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

}  // namespace

ModelTemplate GgufChatTemplate(const std::filesystem::path& path) {
  const auto parts = files::GgufParts::Open(path);
  const files::GgufFile& file = parts->first();
  return {.name = path.string(),
          .source = std::string(file.GetString("tokenizer.chat_template").value_or("")),
          .begin_token = PieceOf(file, "tokenizer.ggml.bos_token_id"),
          .end_token = PieceOf(file, "tokenizer.ggml.eos_token_id")};
}

}  // namespace ekvi::text
