// The formats that files store weights in: plain numbers, and blocks of integers that share scales.
//
// A value of a block is level × scale + term, in float32 and in this order:
//   level  the stored code, or its entry in the format's codebook, less the format's offset: an integer
//   scale  the block's scale × the sub-block's (where the format has those); both factors and the product are exact
//   term   formats with a minimum only: the block's minimum, or −(the block's × the sub-block's), exact too
// level × scale is exact in float32 for every format, so that only adding a term rounds, once. These are the values of
// ggml's dequantize_row_* (ggml-quants.c, MIT licence), whose layouts the formats are; in float64 they are the same
// values, widened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ekvi/dtype.h"

namespace ekvi::numeric {

enum class Format : uint8_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kMXFP4,
};
inline constexpr int kFormatCount = 17;
inline constexpr int kBlockValuesMax = 256;

// Levels that a code of 4 bits stands for, offset included.
enum class Codebook : uint8_t { kNone, kIq4, kMxfp4 };
inline constexpr uint8_t kIq4Levels[16] = {1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
inline constexpr uint8_t kMxfp4Levels[16] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

enum class SubScale : uint8_t { kNone, kUnsigned, kSigned };

// What a block is made of. `values` is 1 for plain numbers, and nothing but `values` and `bytes` holds there.
struct BlockShape {
  int values, bytes;      // of a block
  int low_bits = 0;       // of a code: those that lie together in the file,
  int high_bits = 0;      // and those that lie apart
  int offset = 0;         // what a code (or level) of value zero is
  int scale_values = 32;  // consecutive values that share a scale: 16 or 32
  int scale_at = 0;       // byte in the block: f16; a power of two's biased exponent for MXFP4
  int min_at = -1;        // byte in the block: f16; -1: no minimum
  Codebook codebook = Codebook::kNone;
  SubScale sub_scale = SubScale::kNone;

  constexpr bool has_min() const { return min_at >= 0; }
};

// In the order of Format.
inline constexpr BlockShape kShapes[kFormatCount] = {
    {.values = 1, .bytes = 8},
    {.values = 1, .bytes = 4},
    {.values = 1, .bytes = 2},
    {.values = 1, .bytes = 2},
    {.values = 32, .bytes = 18, .low_bits = 4, .offset = 8},
    {.values = 32, .bytes = 20, .low_bits = 4, .min_at = 2},
    {.values = 32, .bytes = 22, .low_bits = 4, .high_bits = 1, .offset = 16},
    {.values = 32, .bytes = 24, .low_bits = 4, .high_bits = 1, .min_at = 2},
    {.values = 32, .bytes = 34, .low_bits = 8, .offset = 128},
    {.values = 256,
     .bytes = 84,
     .low_bits = 2,
     .scale_values = 16,
     .scale_at = 80,
     .min_at = 82,
     .sub_scale = SubScale::kUnsigned},
    {.values = 256,
     .bytes = 110,
     .low_bits = 2,
     .high_bits = 1,
     .offset = 4,
     .scale_values = 16,
     .scale_at = 108,
     .sub_scale = SubScale::kSigned},
    {.values = 256, .bytes = 144, .low_bits = 4, .min_at = 2, .sub_scale = SubScale::kUnsigned},
    {.values = 256, .bytes = 176, .low_bits = 4, .high_bits = 1, .min_at = 2, .sub_scale = SubScale::kUnsigned},
    {.values = 256,
     .bytes = 210,
     .low_bits = 4,
     .high_bits = 2,
     .offset = 32,
     .scale_values = 16,
     .scale_at = 208,
     .sub_scale = SubScale::kSigned},
    {.values = 32, .bytes = 18, .low_bits = 4, .offset = 128, .codebook = Codebook::kIq4},
    {.values = 256,
     .bytes = 136,
     .low_bits = 4,
     .offset = 128,
     .codebook = Codebook::kIq4,
     .sub_scale = SubScale::kSigned},
    {.values = 32, .bytes = 17, .low_bits = 4, .offset = 16, .codebook = Codebook::kMxfp4},
};

constexpr BlockShape ShapeOf(Format format) { return kShapes[static_cast<size_t>(format)]; }
constexpr bool IsBlocks(Format format) { return ShapeOf(format).values > 1; }

// "F32", "Q4_K", as files write it.
std::string_view FormatName(Format format);
constexpr Format FormatOf(DType type) { return static_cast<Format>(type); }
static_assert(FormatOf(DType::kF64) == Format::kF64 && FormatOf(DType::kBF16) == Format::kBF16);
// The type of plain numbers; nothing for blocks.
constexpr std::optional<DType> PlainType(Format format) {
  return IsBlocks(format) ? std::nullopt : std::optional(static_cast<DType>(format));
}

// Bytes of `count` values, a multiple of the format's block.
constexpr size_t FormatBytes(Format format, size_t count) {
  return count / static_cast<size_t>(ShapeOf(format).values) * static_cast<size_t>(ShapeOf(format).bytes);
}

// A block taken apart, values in the order of the row.
struct BlockParts {
  uint8_t codes[kBlockValuesMax];
  uint16_t scale, min;                   // f16 bits; bf16 for MXFP4
  uint8_t sub_scales[16], sub_mins[16];  // of 16 or 32 values; sub_scales int8 where they are signed
};
// Takes one block of a format apart; for formats of blocks only.
using Unpacker = void (*)(const std::byte* block, BlockParts* parts);
Unpacker UnpackerOf(Format format);

// `count` values (a multiple of the block) at `from` into `to`; no alignment is required. T is float or double: F64
// rounds to float, everything else is exact or as described above.
template <typename T>
void Decode(Format format, const std::byte* from, T* to, size_t count);

// The index of the first of `count` values of blocks that is not finite in float32: looks at scales, not at values.
// Plain numbers are not looked at.
std::optional<size_t> FirstBadBlock(Format format, const std::byte* from, size_t count);

}  // namespace ekvi::numeric
