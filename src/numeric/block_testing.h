// For tests: stored values of any format.
#pragma once

#include <cstring>
#include <vector>

#include "base/random.h"
#include "numeric/block_format.h"
#include "numeric/convert.h"

namespace ekvi::numeric {

inline constexpr Format kBlockFormats[] = {
    Format::kQ4_0, Format::kQ4_1, Format::kQ5_0, Format::kQ5_1,   Format::kQ8_0,   Format::kQ2_K, Format::kQ3_K,
    Format::kQ4_K, Format::kQ5_K, Format::kQ6_K, Format::kIQ4_NL, Format::kIQ4_XS, Format::kMXFP4};

inline void WriteF16(std::byte* at, float value) {
  const F16 half = ToF16(value);
  std::memcpy(at, &half, sizeof(half));
}

// `count` values of a format, one byte off any alignment: plain ones normal; of blocks every code, every sub-scale and
// scales of both signs.
class RandomValues {
 public:
  RandomValues(Format format, size_t count, base::Random& random)
      : format_(format), bytes_(1 + FormatBytes(format, count)) {
    const BlockShape shape = ShapeOf(format);
    if (const auto plain = PlainType(format)) {
      std::vector<double> values(count);
      for (double& value : values) value = random.Normal();
      Narrow(*plain, values.data(), data(), count);
      return;
    }
    for (std::byte& byte : bytes_) byte = static_cast<std::byte>(random.Below(256));
    for (size_t block = 0; block < count / static_cast<size_t>(shape.values); ++block) {
      SetScales(data() + block * static_cast<size_t>(shape.bytes), shape, random);
    }
  }

  std::byte* data() { return bytes_.data() + 1; }
  const std::byte* data() const { return bytes_.data() + 1; }

 private:
  void SetScales(std::byte* block, const BlockShape& shape, base::Random& random) const {
    if (format_ == Format::kMXFP4) {
      *block = static_cast<std::byte>(120 + random.Below(10));
      return;
    }
    WriteF16(block + shape.scale_at, static_cast<float>(0.01 * random.Normal()));
    if (shape.has_min()) WriteF16(block + shape.min_at, static_cast<float>(0.05 * random.Normal()));
  }

  Format format_;
  std::vector<std::byte> bytes_;
};

}  // namespace ekvi::numeric
