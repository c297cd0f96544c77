// The tensors' part of a GGUF file: reads the descriptions and checks that the data they name lies in the file,
// aligned, without overlap, and with nothing but zero padding between and after.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "files/gguf_cursor.h"
#include "files/gguf_parser.h"

namespace ekvi::files {

// The next description; `offset` stays relative to the data's start. Errors: kCorrupt, kUnsupported (element type).
GgufTensor ReadGgufTensor(GgufCursor& cursor);

// Where tensors may lie.
struct GgufDataArea {
  std::span<const std::byte> bytes;  // the whole file
  std::string_view file;             // its name
  uint64_t header_end = 0;           // the first byte after the descriptions
  uint32_t alignment = 0;
};

// Makes each offset absolute. Error(kCorrupt) naming the tensor where the data is not as described above.
void PlaceGgufTensors(const GgufDataArea& area, std::vector<GgufTensor>& tensors);

}  // namespace ekvi::files
