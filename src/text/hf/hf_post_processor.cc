#include <fmt/core.h>

#include "files/reader_error.h"
#include "text/hf/hf_parts.h"

namespace ekvi::text {
namespace {

// Parts of a template, and tokens in front of a text; public tokenizers have three at most.
constexpr size_t kPrefixMax = 1024;

int32_t ReadId(const JsonValue& id, int32_t size) {
  const uint64_t number = id.Uint(INT32_MAX);
  if (number < static_cast<uint64_t>(size)) return static_cast<int32_t>(number);
  throw id.Fault(
      ErrorCode::kCorrupt, "outside the vocabulary",
      fmt::format("id {}, the vocabulary has {} pieces", number, files::Digits(static_cast<uint64_t>(size))));
}

std::vector<int32_t> ReadTemplate(const JsonValue& processor, int32_t size) {
  std::vector<int32_t> prefix;
  const JsonValue single = processor.Require("single");
  size_t index = 0;
  for (const auto part : single.Array()) {
    const JsonValue item = single.Item(part, index++);
    if (item.Get("Sequence")) break;
    const JsonValue name = item.Require("SpecialToken").Require("id");
    const JsonValue ids = processor.Require("special_tokens").Require(name.String()).Require("ids");
    if (index > kPrefixMax || prefix.size() + ids.Array().size() > kPrefixMax) {
      throw item.Fault(ErrorCode::kUnsupported, "too much in front of a text", fmt::format("at most {}", kPrefixMax));
    }
    size_t place = 0;
    for (const auto id : ids.Array()) prefix.push_back(ReadId(ids.Item(id, place++), size));
  }
  return prefix;
}

}  // namespace

std::vector<int32_t> ReadHfPrefix(const JsonValue& post_processor, int32_t size) {
  const std::string_view type = post_processor.Require("type").String();
  if (type == "ByteLevel") return {};
  if (type == "TemplateProcessing") return ReadTemplate(post_processor, size);
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    const JsonValue begin = post_processor.Require("cls");
    const auto pair = begin.Array();
    if (pair.size() == 2) return {ReadId(begin.Item(pair.at(1), 1), size)};
    throw begin.Fault(ErrorCode::kCorrupt, "a name and an id are wanted", fmt::format("{} items", pair.size()));
  }
  if (type == "Sequence") {
    const JsonValue parts = post_processor.Require("processors");
    std::vector<int32_t> prefix;
    size_t index = 0;
    for (const auto part : parts.Array()) {
      const std::vector<int32_t> outer = ReadHfPrefix(parts.Item(part, index++), size);
      prefix.insert(prefix.begin(), outer.begin(), outer.end());
    }
    return prefix;
  }
  throw post_processor.Fault(ErrorCode::kUnsupported, fmt::format("post-processor {}", files::Quote(type)));
}

}  // namespace ekvi::text
