// A panel is filled in steps of 64 inputs: 16 rows are brought to the packed type in a buffer that stays in the nearest
// cache, checked, and then turned so that the 16 outputs of an input lie side by side.
#include "model/linear_pack.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/check.h"
#include "kernels/kernels.h"
#include "numeric/convert.h"

namespace ekvi::model {
namespace {

using kernels::kLanes;

constexpr int64_t kStep = 64;
constexpr int64_t kQ8Values = numeric::kQ8BlockValues, kQ8Bytes = numeric::kQ8BlockBytes;
constexpr int64_t kScaleBytes = 2 * kLanes;
constexpr int64_t kQ8PanelBytes = kScaleBytes + kQ8Values * kLanes;
constexpr int64_t kNowhere = INT64_MAX;

constexpr uint16_t kF16Exponent = 0x7C00;

// The exponent bits that only an infinity and NaN have all set.
template <typename Bits>
Bits ExponentMask(DType type) {
  switch (type) {
    case DType::kF64:
      return static_cast<Bits>(0x7FF0000000000000u);
    case DType::kF32:
      return static_cast<Bits>(0x7F800000u);
    case DType::kBF16:
      return static_cast<Bits>(0x7F80u);
    default:
      return static_cast<Bits>(kF16Exponent);
  }
}

template <typename Bits>
bool AllFinite(const Bits* bits, int64_t count, Bits mask) {
  bool bad = false;
  for (int64_t i = 0; i < count; ++i) bad |= (bits[i] & mask) == mask;
  return !bad;
}

int64_t StoredOutput(const MatrixView& matrix, int64_t output) {
  return matrix.output_order.empty() ? matrix.first_output + output : matrix.output_order[output];
}

// `count` stored values of one output from input `first` on, side by side: where they lie, or gathered into `buffer`.
const std::byte* StoredValues(const MatrixView& matrix, int64_t output, int64_t first, int64_t count,
                              std::byte* buffer) {
  const int64_t stored = StoredOutput(matrix, output);
  if (matrix.storage == MatrixStorage::kOutputRows) {
    const size_t row_bytes = DTypeBytes(matrix.dtype, static_cast<size_t>(matrix.inputs));
    return matrix.data + stored * row_bytes + DTypeBytes(matrix.dtype, static_cast<size_t>(first));
  }
  const size_t size = DTypeBytes(matrix.dtype, 1);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(buffer + i * size, matrix.data + ((first + i) * matrix.stored_outputs + stored) * size, size);
  }
  return buffer;
}

// Keeps the least place of those noted, whoever finds it.
class FirstPlace {
 public:
  void Note(int64_t place) {
    int64_t before = place_.load(std::memory_order_relaxed);
    while (place < before && !place_.compare_exchange_weak(before, place, std::memory_order_relaxed)) {
    }
  }
  int64_t place() const { return place_.load(); }

 private:
  std::atomic<int64_t> place_{kNowhere};
};

// Panels of plain values, Bits as wide as one. T as in PackPanels: what other stored types are widened to.
template <typename T, typename Bits>
class PlainPacker {
 public:
  PlainPacker(const MatrixView& matrix, FirstPlace* bad)
      : matrix_(matrix), packed_(PackedType<T>(matrix.dtype)), mask_(ExponentMask<Bits>(packed_)), bad_(bad) {}

  void Panel(int64_t panel, std::byte* out) const {
    for (int64_t first = 0; first < matrix_.inputs; first += kStep) {
      const int64_t count = std::min(kStep, matrix_.inputs - first);
      Bits rows[kLanes][kStep] = {};
      for (int lane = 0; lane < kLanes && panel * kLanes + lane < matrix_.outputs; ++lane) {
        Fill(panel * kLanes + lane, first, count, rows[lane]);
      }
      Turn(rows, count, out + first * kLanes * sizeof(Bits));
    }
  }

 private:
  void Fill(int64_t output, int64_t first, int64_t count, Bits* row) const {
    std::byte gathered[kStep * sizeof(double)];
    const std::byte* stored = StoredValues(matrix_, output, first, count, gathered);
    if (matrix_.dtype == packed_) {
      std::memcpy(row, stored, count * sizeof(Bits));
    } else {
      T wide[kStep];
      if (matrix_.dtype == DType::kQ8_0)
        numeric::WidenQ8(stored, wide, count);
      else
        numeric::Widen(matrix_.dtype, stored, wide, count);
      std::memcpy(row, wide, count * sizeof(Bits));
    }
    if (AllFinite(row, count, mask_)) return;
    const Bits* at = std::find_if(row, row + count, [&](Bits bits) { return (bits & mask_) == mask_; });
    bad_->Note(output * matrix_.inputs + first + (at - row));
  }

  static void Turn(const Bits (&rows)[kLanes][kStep], int64_t count, std::byte* out) {
    for (int64_t i = 0; i < count; ++i) {
      Bits line[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) line[lane] = rows[lane][i];
      std::memcpy(out + i * sizeof(line), line, sizeof(line));
    }
  }

  const MatrixView& matrix_;
  DType packed_;
  Bits mask_;
  FirstPlace* bad_;
};

// Panels of Q8_0 that stay Q8_0: 16 scales, then the integers of 32 inputs.
class Q8Packer {
 public:
  Q8Packer(const MatrixView& matrix, FirstPlace* bad) : matrix_(matrix), bad_(bad) {}

  void Panel(int64_t panel, std::byte* out) const {
    for (int64_t first = 0; first < matrix_.inputs; first += kQ8Values, out += kQ8PanelBytes) {
      std::memset(out, 0, kQ8PanelBytes);
      for (int lane = 0; lane < kLanes && panel * kLanes + lane < matrix_.outputs; ++lane) {
        Fill(panel * kLanes + lane, first, out, lane);
      }
    }
  }

 private:
  void Fill(int64_t output, int64_t first, std::byte* out, int lane) const {
    const std::byte* block = StoredValues(matrix_, output, first, kQ8Values, nullptr);
    uint16_t scale;
    std::memcpy(&scale, block, sizeof(scale));
    if ((scale & kF16Exponent) == kF16Exponent) bad_->Note(output * matrix_.inputs + first);
    std::memcpy(out + lane * sizeof(scale), &scale, sizeof(scale));
    const std::byte* values = block + sizeof(scale);
    for (int64_t i = 0; i < kQ8Values; ++i) out[kScaleBytes + i * kLanes + lane] = values[i];
  }

  const MatrixView& matrix_;
  FirstPlace* bad_;
};

template <typename Packer>
void PackAll(const MatrixView& matrix, const Packer& packer, std::byte* out, int64_t panel_bytes,
             base::ThreadPool& pool) {
  const int64_t panels = (matrix.outputs + kLanes - 1) / kLanes;
  pool.ForEach(panels, [&](int64_t panel, int) { packer.Panel(panel, out + panel * panel_bytes); });
}

}  // namespace

template <typename T>
DType PackedType(DType stored) {
  if (sizeof(T) == sizeof(double)) return DType::kF64;
  return stored == DType::kF64 ? DType::kF32 : stored;
}

int64_t PanelBytes(DType packed, int64_t inputs) {
  if (packed == DType::kQ8_0) return inputs / kQ8Values * kQ8PanelBytes;
  return inputs * kLanes * static_cast<int64_t>(DTypeBytes(packed, 1));
}

template <typename T>
std::optional<MatrixPlace> PackPanels(const MatrixView& matrix, std::byte* out, base::ThreadPool& pool) {
  EKVI_CHECK(matrix.dtype != DType::kQ8_0 ||
             (matrix.inputs % kQ8Values == 0 && matrix.storage == MatrixStorage::kOutputRows));
  const DType packed = PackedType<T>(matrix.dtype);
  const int64_t panel_bytes = PanelBytes(packed, matrix.inputs);
  FirstPlace bad;
  switch (packed) {
    case DType::kF64:
      PackAll(matrix, PlainPacker<T, uint64_t>(matrix, &bad), out, panel_bytes, pool);
      break;
    case DType::kF32:
      PackAll(matrix, PlainPacker<T, uint32_t>(matrix, &bad), out, panel_bytes, pool);
      break;
    case DType::kQ8_0:
      PackAll(matrix, Q8Packer(matrix, &bad), out, panel_bytes, pool);
      break;
    default:
      PackAll(matrix, PlainPacker<T, uint16_t>(matrix, &bad), out, panel_bytes, pool);
      break;
  }
  if (bad.place() == kNowhere) return std::nullopt;
  return MatrixPlace{bad.place() / matrix.inputs, bad.place() % matrix.inputs};
}

template DType PackedType<float>(DType);
template DType PackedType<double>(DType);
template std::optional<MatrixPlace> PackPanels<float>(const MatrixView&, std::byte*, base::ThreadPool&);
template std::optional<MatrixPlace> PackPanels<double>(const MatrixView&, std::byte*, base::ThreadPool&);

}  // namespace ekvi::model
