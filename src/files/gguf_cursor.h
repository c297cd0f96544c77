// Reads little-endian values one after the other from a file's bytes; what is not there is an error that says where.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "files/gguf_value.h"
#include "files/reader_error.h"

namespace ekvi::files {

static_assert(std::endian::native == std::endian::little,
              "GGUF files are read where they lie: little-endian machines only");

// The part of a file being read, for messages: "header", "key 3 of 17", then "key 'x'" once its name is known.
struct GgufPart {
  std::string_view kind;
  uint64_t index = 0, count = 0;
  std::string_view name = {};

  std::string Text() const;
};

class GgufCursor {
 public:
  // Both must outlive it.
  GgufCursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }
  GgufPart& part() { return part_; }

  // The next value; kCorrupt "truncated" where fewer bytes are left.
  template <typename T>
  T Read() {
    return LoadGguf<T>(Take(sizeof(T)).data());
  }
  std::span<const std::byte> Take(uint64_t bytes);
  // A u64 length and as many bytes.
  std::string_view ReadString();

  // Error naming the file and the part being read.
  Error Fail(ErrorCode code, std::string_view what, std::string numbers, std::string hint = "") const;

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  uint64_t at_ = 0;
  GgufPart part_;
};

}  // namespace ekvi::files
