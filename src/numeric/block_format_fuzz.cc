// What must hold for blocks of any bytes: values are those of the header's formula, in float64 the same ones widened;
// no finite scale gives another value, and where none is found bad all values are finite. Input: a format, then blocks.
#include <cmath>
#include <cstring>

#include "fuzzing.h"
#include "numeric/block_format.h"
#include "numeric/block_testing.h"

namespace ekvi::fuzzing {
namespace {

using numeric::BlockParts, numeric::BlockShape, numeric::Codebook, numeric::Format, numeric::SubScale;

bool SameBits(double a, double b) { return std::memcmp(&a, &b, sizeof(a)) == 0 || (std::isnan(a) && std::isnan(b)); }

// Value i of a block by the formula: the product in double, where it is exact, and one rounding.
float ValueOf(Format format, const BlockParts& parts, int i) {
  const BlockShape shape = numeric::ShapeOf(format);
  const int sub = i / shape.scale_values, code = parts.codes[i];
  const int level = shape.codebook == Codebook::kIq4     ? numeric::kIq4Levels[code]
                    : shape.codebook == Codebook::kMxfp4 ? numeric::kMxfp4Levels[code]
                                                         : code;
  const bool power = format == Format::kMXFP4;
  const double whole = power ? numeric::ToF32(numeric::BF16{parts.scale}) : numeric::ToF32(numeric::F16{parts.scale});
  const double scale = shape.sub_scale == SubScale::kNone       ? whole
                       : shape.sub_scale == SubScale::kUnsigned ? whole * parts.sub_scales[sub]
                                                                : whole * static_cast<int8_t>(parts.sub_scales[sub]);
  const double min = shape.has_min() ? numeric::ToF32(numeric::F16{parts.min}) : 0;
  const double term = shape.sub_scale == SubScale::kNone ? min : -min * parts.sub_mins[sub];
  const double product = scale * (level - shape.offset);
  return static_cast<float>(shape.has_min() ? product + term : product);
}

void CheckBlocks(Format format, const std::byte* bytes, size_t blocks) {
  const BlockShape shape = numeric::ShapeOf(format);
  const size_t values = static_cast<size_t>(shape.values), count = blocks * values;
  std::vector<float> floats(count);
  std::vector<double> doubles(count);
  numeric::Decode(format, bytes, floats.data(), count);
  numeric::Decode(format, bytes, doubles.data(), count);
  bool finite = true;
  for (size_t block = 0; block < blocks; ++block) {
    BlockParts parts;
    numeric::UnpackerOf(format)(bytes + block * static_cast<size_t>(shape.bytes), &parts);
    for (size_t i = 0; i < values; ++i) {
      const float value = floats[block * values + i];
      EKVI_CHECK(SameBits(value, ValueOf(format, parts, static_cast<int>(i))));
      EKVI_CHECK(SameBits(value, doubles[block * values + i]));
      finite = finite && std::isfinite(value);
    }
  }
  const auto bad = numeric::FirstBadBlock(format, bytes, count);
  EKVI_CHECK(bad || finite);
  if (bad) EKVI_CHECK_OP(<, *bad, count);
}

}  // namespace

void TryInput(std::string_view input) {
  if (input.empty()) return;
  const Format format =
      numeric::kBlockFormats[static_cast<unsigned char>(input[0]) % std::size(numeric::kBlockFormats)];
  const std::string_view bytes = input.substr(1);
  const size_t blocks = bytes.size() / static_cast<size_t>(numeric::ShapeOf(format).bytes);
  CheckBlocks(format, reinterpret_cast<const std::byte*>(bytes.data()), blocks);
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  base::Random random(1);
  for (size_t i = 0; i < std::size(numeric::kBlockFormats); ++i) {
    const Format format = numeric::kBlockFormats[i];
    const auto count = static_cast<size_t>(2 * numeric::ShapeOf(format).values);
    const numeric::RandomValues values(format, count, random);
    std::string& seed = seeds.emplace_back(1, static_cast<char>(i));
    seed.append(reinterpret_cast<const char*>(values.data()), numeric::FormatBytes(format, count));
  }
  return seeds;
}

}  // namespace ekvi::fuzzing
