// Layouts after ggml-common.h and ggml-quants.c (MIT licence). Each format has one function that takes a block apart;
// decoding is the same formula for all of them.
#include "numeric/block_format.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "base/check.h"
#include "numeric/convert.h"

namespace ekvi::numeric {
namespace {

constexpr std::string_view kNames[] = {"F64",  "F32",  "F16",  "BF16", "Q4_0", "Q4_1",   "Q5_0",   "Q5_1", "Q8_0",
                                       "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"};
static_assert(std::size(kNames) == kFormatCount);

const uint8_t* Bytes(const std::byte* at) { return reinterpret_cast<const uint8_t*>(at); }

template <typename T>
T Read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// 32 codes in 16 bytes: the first 16 in the low halves.
void Nibbles(const uint8_t* q, uint8_t* codes) {
  for (int i = 0; i < 16; ++i) codes[i] = q[i] & 15;
  for (int i = 0; i < 16; ++i) codes[16 + i] = q[i] >> 4;
}

// Adds bit i of `bits` as the fifth bit of code i.
void FifthBits(uint32_t bits, uint8_t* codes) {
  for (int i = 0; i < 32; ++i) codes[i] |= static_cast<uint8_t>((bits >> i & 1) << 4);
}

// Eight scales and minima of 6 bits in 12 bytes: four of each as bytes, whose upper two bits are those of the others.
void SixBitScales(const uint8_t* s, BlockParts* parts) {
  for (int i = 0; i < 4; ++i) {
    parts->sub_scales[i] = s[i] & 63;
    parts->sub_mins[i] = s[i + 4] & 63;
    parts->sub_scales[i + 4] = static_cast<uint8_t>((s[i + 8] & 15) | s[i] >> 6 << 4);
    parts->sub_mins[i + 4] = static_cast<uint8_t>(s[i + 8] >> 4 | s[i + 4] >> 6 << 4);
  }
}

template <Format kFormat>
void Codes(const std::byte* block, BlockParts* parts);

template <>
void Codes<Format::kQ4_0>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 2), parts->codes);
}
template <>
void Codes<Format::kIQ4_NL>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 2), parts->codes);
}
template <>
void Codes<Format::kQ4_1>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 4), parts->codes);
}
template <>
void Codes<Format::kMXFP4>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 1), parts->codes);
}
template <>
void Codes<Format::kQ5_0>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 6), parts->codes);
  FifthBits(Read<uint32_t>(block + 2), parts->codes);
}
template <>
void Codes<Format::kQ5_1>(const std::byte* block, BlockParts* parts) {
  Nibbles(Bytes(block + 8), parts->codes);
  FifthBits(Read<uint32_t>(block + 4), parts->codes);
}
template <>
void Codes<Format::kQ8_0>(const std::byte* block, BlockParts* parts) {
  const uint8_t* q = Bytes(block + 2);
  for (int i = 0; i < 32; ++i) parts->codes[i] = q[i] ^ 0x80;
}
template <>
void Codes<Format::kQ2_K>(const std::byte* block, BlockParts* parts) {
  const uint8_t *scales = Bytes(block), *q = Bytes(block + 16);
  for (int i = 0; i < 16; ++i) parts->sub_scales[i] = scales[i] & 15, parts->sub_mins[i] = scales[i] >> 4;
  for (int i = 0; i < 256; ++i) parts->codes[i] = q[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3;
}
template <>
void Codes<Format::kQ3_K>(const std::byte* block, BlockParts* parts) {
  const uint8_t *high = Bytes(block), *q = Bytes(block + 32), *s = Bytes(block + 96);
  for (int i = 0; i < 16; ++i) {
    const int low = i < 8 ? s[i] & 15 : s[i - 8] >> 4, top = s[8 + i % 4] >> (i / 4 * 2) & 3;
    parts->sub_scales[i] = static_cast<uint8_t>((low | top << 4) - 32);
  }
  for (int i = 0; i < 256; ++i) {
    const int low = q[i / 128 * 32 + i % 32] >> (i / 32 % 4 * 2) & 3, top = high[i % 32] >> (i / 32) & 1;
    parts->codes[i] = static_cast<uint8_t>(low | top << 2);
  }
}
template <>
void Codes<Format::kQ4_K>(const std::byte* block, BlockParts* parts) {
  SixBitScales(Bytes(block + 4), parts);
  const uint8_t* q = Bytes(block + 16);
  for (int part = 0; part < 4; ++part) {
    for (int i = 0; i < 32; ++i) parts->codes[64 * part + i] = q[32 * part + i] & 15;
    for (int i = 0; i < 32; ++i) parts->codes[64 * part + 32 + i] = q[32 * part + i] >> 4;
  }
}
template <>
void Codes<Format::kQ5_K>(const std::byte* block, BlockParts* parts) {
  SixBitScales(Bytes(block + 4), parts);
  const uint8_t *high = Bytes(block + 16), *q = Bytes(block + 48);
  for (int part = 0; part < 8; ++part) {
    for (int i = 0; i < 32; ++i) {
      const int low = q[part / 2 * 32 + i] >> (part % 2 * 4) & 15, top = high[i] >> part & 1;
      parts->codes[32 * part + i] = static_cast<uint8_t>(low | top << 4);
    }
  }
}
template <>
void Codes<Format::kQ6_K>(const std::byte* block, BlockParts* parts) {
  const uint8_t *q = Bytes(block), *high = Bytes(block + 128);
  std::memcpy(parts->sub_scales, block + 192, 16);
  for (int part = 0; part < 8; ++part) {
    const uint8_t* low = q + part / 4 * 64 + part % 2 * 32;
    const uint8_t* top = high + part / 4 * 32;
    for (int i = 0; i < 32; ++i) {
      const int upper = top[i] >> (part % 4 * 2) & 3;
      parts->codes[32 * part + i] = static_cast<uint8_t>((low[i] >> (part % 4 / 2 * 4) & 15) | upper << 4);
    }
  }
}
template <>
void Codes<Format::kIQ4_XS>(const std::byte* block, BlockParts* parts) {
  const auto high = Read<uint16_t>(block + 2);
  const uint8_t *low = Bytes(block + 4), *q = Bytes(block + 8);
  for (int i = 0; i < 8; ++i) {
    parts->sub_scales[i] = static_cast<uint8_t>(((low[i / 2] >> (i % 2 * 4) & 15) | (high >> (2 * i) & 3) << 4) - 32);
    Nibbles(q + 16 * i, parts->codes + 32 * i);
  }
}

// bf16 bits of 2^(e − 128), subnormal for the least two.
uint16_t PowerBits(uint8_t e) {
  return e >= 2 ? static_cast<uint16_t>((e - 1) << 7) : static_cast<uint16_t>(0x20 << e);
}

template <Format kFormat>
void Unpack(const std::byte* block, BlockParts* parts) {
  constexpr BlockShape kShape = ShapeOf(kFormat);
  Codes<kFormat>(block, parts);
  if constexpr (kFormat == Format::kMXFP4)
    parts->scale = PowerBits(*Bytes(block));
  else
    parts->scale = Read<uint16_t>(block + kShape.scale_at);
  if constexpr (kShape.has_min()) parts->min = Read<uint16_t>(block + kShape.min_at);
}

// One format's functions.
struct Entry {
  Unpacker unpack;
  void (*decode)(const std::byte* from, float* to, size_t blocks);
};

template <Format kFormat>
float SubScaleOf(const BlockParts& parts, int sub) {
  constexpr SubScale kKind = ShapeOf(kFormat).sub_scale;
  if constexpr (kKind == SubScale::kNone) return 1;
  if constexpr (kKind == SubScale::kUnsigned) return parts.sub_scales[sub];
  return static_cast<int8_t>(parts.sub_scales[sub]);
}

template <Format kFormat>
float TermOf(const BlockParts& parts, int sub) {
  constexpr BlockShape kShape = ShapeOf(kFormat);
  const float min = ToF32(F16{parts.min});
  return kShape.sub_scale == SubScale::kNone ? min : -(min * static_cast<float>(parts.sub_mins[sub]));
}

template <Format kFormat>
int LevelOf(uint8_t code) {
  constexpr BlockShape kShape = ShapeOf(kFormat);
  if constexpr (kShape.codebook == Codebook::kIq4) return kIq4Levels[code] - kShape.offset;
  if constexpr (kShape.codebook == Codebook::kMxfp4) return kMxfp4Levels[code] - kShape.offset;
  return code - kShape.offset;
}

template <Format kFormat>
void DecodeBlocks(const std::byte* from, float* to, size_t blocks) {
  constexpr BlockShape kShape = ShapeOf(kFormat);
  BlockParts parts;
  for (; blocks > 0; --blocks, from += kShape.bytes, to += kShape.values) {
    Unpack<kFormat>(from, &parts);
    const float whole = kFormat == Format::kMXFP4 ? ToF32(BF16{parts.scale}) : ToF32(F16{parts.scale});
    for (int sub = 0; sub * kShape.scale_values < kShape.values; ++sub) {
      const float scale = whole * SubScaleOf<kFormat>(parts, sub);
      const uint8_t* codes = parts.codes + sub * kShape.scale_values;
      float* values = to + sub * kShape.scale_values;
      for (int i = 0; i < kShape.scale_values; ++i) values[i] = scale * static_cast<float>(LevelOf<kFormat>(codes[i]));
      if constexpr (kShape.has_min()) {
        const float term = TermOf<kFormat>(parts, sub);
        for (int i = 0; i < kShape.scale_values; ++i) values[i] = values[i] + term;
      }
    }
  }
}

template <Format kFormat>
constexpr Entry kEntry = {Unpack<kFormat>, DecodeBlocks<kFormat>};

constexpr Entry kEntries[] = {{},
                              {},
                              {},
                              {},
                              kEntry<Format::kQ4_0>,
                              kEntry<Format::kQ4_1>,
                              kEntry<Format::kQ5_0>,
                              kEntry<Format::kQ5_1>,
                              kEntry<Format::kQ8_0>,
                              kEntry<Format::kQ2_K>,
                              kEntry<Format::kQ3_K>,
                              kEntry<Format::kQ4_K>,
                              kEntry<Format::kQ5_K>,
                              kEntry<Format::kQ6_K>,
                              kEntry<Format::kIQ4_NL>,
                              kEntry<Format::kIQ4_XS>,
                              kEntry<Format::kMXFP4>};
static_assert(std::size(kEntries) == kFormatCount);

const Entry& EntryOf(Format format) {
  const Entry& entry = kEntries[static_cast<size_t>(format)];
  EKVI_CHECK(entry.unpack != nullptr);
  return entry;
}

void DecodeTo(const Entry& entry, const BlockShape&, const std::byte* from, float* to, size_t blocks) {
  entry.decode(from, to, blocks);
}
void DecodeTo(const Entry& entry, const BlockShape& shape, const std::byte* from, double* to, size_t blocks) {
  float values[kBlockValuesMax];
  for (; blocks > 0; --blocks, from += shape.bytes, to += shape.values) {
    entry.decode(from, values, 1);
    for (int i = 0; i < shape.values; ++i) to[i] = values[i];
  }
}

constexpr uint16_t kF16Exponent = 0x7C00;
// From here on 12 × 2^(e − 128), the largest value of a block, may be past float32; 255 is no number.
constexpr uint8_t kPowerSuspect = 253, kPowerNan = 255;

bool FiniteScale(const std::byte* at) { return (Read<uint16_t>(at) & kF16Exponent) != kF16Exponent; }

std::optional<size_t> FirstBadPower(const std::byte* block) {
  const uint8_t e = *Bytes(block);
  if (e < kPowerSuspect) return std::nullopt;
  if (e == kPowerNan) return 0;
  float values[32];
  DecodeBlocks<Format::kMXFP4>(block, values, 1);
  for (size_t i = 0; i < std::size(values); ++i) {
    if (!std::isfinite(values[i])) return i;
  }
  return std::nullopt;
}

}  // namespace

std::string_view FormatName(Format format) {
  EKVI_CHECK_OP(<, static_cast<size_t>(format), std::size(kNames));
  return kNames[static_cast<size_t>(format)];
}

Unpacker UnpackerOf(Format format) { return EntryOf(format).unpack; }

template <typename T>
void Decode(Format format, const std::byte* from, T* to, size_t count) {
  if (const auto plain = PlainType(format)) return Widen(*plain, from, to, count);
  const BlockShape shape = ShapeOf(format);
  EKVI_CHECK_OP(==, count % static_cast<size_t>(shape.values), size_t{0});
  DecodeTo(EntryOf(format), shape, from, to, count / static_cast<size_t>(shape.values));
}

std::optional<size_t> FirstBadBlock(Format format, const std::byte* from, size_t count) {
  const BlockShape shape = ShapeOf(format);
  if (shape.values == 1) return std::nullopt;
  for (size_t first = 0; first < count; first += static_cast<size_t>(shape.values), from += shape.bytes) {
    if (format == Format::kMXFP4) {
      if (const auto bad = FirstBadPower(from)) return first + *bad;
      continue;
    }
    const bool finite = FiniteScale(from + shape.scale_at) && (!shape.has_min() || FiniteScale(from + shape.min_at));
    if (!finite) return first;
  }
  return std::nullopt;
}

template void Decode(Format, const std::byte*, float*, size_t);
template void Decode(Format, const std::byte*, double*, size_t);

}  // namespace ekvi::numeric
