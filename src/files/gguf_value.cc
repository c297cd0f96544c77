#include "files/gguf_value.h"

#include <fmt/core.h>

#include "base/utf8.h"

namespace ekvi::files {
namespace {

constexpr size_t kShortTextBytesMax = 200;

// Broken bytes become U+FFFD, controls a blank; cut where the next character would pass the limit.
std::string PrintableText(std::string_view bytes) {
  std::string text;
  base::Utf8Stream stream;
  stream.Push(bytes.substr(0, kShortTextBytesMax), text);
  if (bytes.size() <= kShortTextBytesMax) stream.Finish(text);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return bytes.size() > kShortTextBytesMax ? text + "…" : text;
}

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string_view GgufTypeName(GgufType type) {
  static constexpr std::string_view kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                                "bool", "string", "array", "u64", "i64", "f64"};
  return kNames[static_cast<uint32_t>(type)];
}

size_t GgufTypeBytes(GgufType type) {
  static constexpr size_t kBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kBytes[static_cast<uint32_t>(type)];
}

std::string_view GgufStrings::Iterator::operator*() const {
  return {reinterpret_cast<const char*>(at_ + sizeof(uint64_t)), LoadGguf<uint64_t>(at_)};
}

GgufStrings::Iterator& GgufStrings::Iterator::operator++() {
  at_ += sizeof(uint64_t) + LoadGguf<uint64_t>(at_);
  return *this;
}

std::string GgufValue::TypeText() const {
  if (type != GgufType::kArray) return std::string(GgufTypeName(type));
  return fmt::format("array of {}", GgufTypeName(item_type));
}

std::string GgufValue::ShortText() const {
  const std::byte* data = payload.data();
  switch (type) {
    case GgufType::kU8:
      return fmt::format("{}", LoadGguf<uint8_t>(data));
    case GgufType::kI8:
      return fmt::format("{}", LoadGguf<int8_t>(data));
    case GgufType::kU16:
      return fmt::format("{}", LoadGguf<uint16_t>(data));
    case GgufType::kI16:
      return fmt::format("{}", LoadGguf<int16_t>(data));
    case GgufType::kU32:
      return fmt::format("{}", LoadGguf<uint32_t>(data));
    case GgufType::kI32:
      return fmt::format("{}", LoadGguf<int32_t>(data));
    case GgufType::kU64:
      return fmt::format("{}", LoadGguf<uint64_t>(data));
    case GgufType::kI64:
      return fmt::format("{}", LoadGguf<int64_t>(data));
    case GgufType::kF32:
      return fmt::format("{}", LoadGguf<float>(data));
    case GgufType::kF64:
      return fmt::format("{}", LoadGguf<double>(data));
    case GgufType::kBool:
      return LoadGguf<uint8_t>(data) != 0 ? "true" : "false";
    case GgufType::kString:
      return PrintableText(AsText(payload));
    case GgufType::kArray:
      return fmt::format("[{}]", count);
  }
  return "";
}

}  // namespace ekvi::files
