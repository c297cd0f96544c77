#include "files/gguf_cursor.h"

#include <fmt/core.h>

#include <utility>

namespace ekvi::files {
namespace {

// Chat templates and licences, the longest strings of real files, stay below 1 MiB.
constexpr uint64_t kStringBytesMax = 16u << 20;

constexpr char kIncomplete[] = "copy or download the file again: it is incomplete or damaged";

}  // namespace

std::string GgufPart::Text() const {
  if (!name.empty()) return fmt::format("{} {}", kind, Quote(name));
  if (count > 0) return fmt::format("{} {} of {}", kind, Digits(index + 1), Digits(count));
  return std::string(kind);
}

std::span<const std::byte> GgufCursor::Take(uint64_t bytes) {
  if (bytes > left()) {
    throw Fail(ErrorCode::kCorrupt, "truncated",
               fmt::format("{} bytes wanted at offset {}, the file ends at {}", Digits(bytes), Digits(at_),
                           Digits(bytes_.size())),
               kIncomplete);
  }
  const auto taken = bytes_.subspan(at_, bytes);
  at_ += bytes;
  return taken;
}

std::string_view GgufCursor::ReadString() {
  const uint64_t offset = at_;
  const auto length = Read<uint64_t>();
  if (length > left()) {
    throw Fail(ErrorCode::kCorrupt, "truncated, or a wrong string length",
               fmt::format("string length {} at offset {}, {} bytes are left in the file", Digits(length),
                           Digits(offset), Digits(left())),
               kIncomplete);
  }
  if (length > kStringBytesMax) {
    throw Fail(ErrorCode::kUnsupported, "a string is too long",
               fmt::format("string length {} at offset {}, at most {} are read", Digits(length), Digits(offset),
                           Digits(kStringBytesMax)));
  }
  const auto bytes = Take(length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Error GgufCursor::Fail(ErrorCode code, std::string_view what, std::string numbers, std::string hint) const {
  return FileError(code, file_, fmt::format("{}: {}", part_.Text(), what), std::move(numbers), std::move(hint));
}

}  // namespace ekvi::files
