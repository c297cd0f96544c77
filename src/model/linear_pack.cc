// A panel is filled in steps of 256 inputs: 16 rows are brought to the packed type in a buffer that stays in the
// nearest cache, checked, and then turned so that the 16 outputs of an input lie side by side. Formats of blocks go
// block by block (block_pack.h). Panels go in groups whose stored rows are let go once they are packed, so that a
// matrix is not in memory twice.
#include "model/linear_pack.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/block_panel.h"
#include "kernels/kernels.h"
#include "model/block_pack.h"
#include "model/first_place.h"
#include "numeric/convert.h"

namespace ekvi::model {
namespace {

using kernels::kLanes;
using numeric::Format;

constexpr int64_t kStep = numeric::kBlockValuesMax;
// Stored bytes of a group of panels, about.
constexpr int64_t kGroupBytes = int64_t{1} << 18;

// The exponent bits that only an infinity and NaN have all set.
template <typename Bits>
Bits ExponentMask(Format format) {
  switch (format) {
    case Format::kF64:
      return static_cast<Bits>(0x7FF0000000000000u);
    case Format::kF32:
      return static_cast<Bits>(0x7F800000u);
    case Format::kBF16:
      return static_cast<Bits>(0x7F80u);
    default:
      return static_cast<Bits>(0x7C00u);
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
    const size_t row_bytes = numeric::FormatBytes(matrix.format, static_cast<size_t>(matrix.inputs));
    return matrix.data + stored * row_bytes + numeric::FormatBytes(matrix.format, static_cast<size_t>(first));
  }
  const size_t size = numeric::FormatBytes(matrix.format, 1);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(buffer + i * size, matrix.data + ((first + i) * matrix.stored_outputs + stored) * size, size);
  }
  return buffer;
}

// Panels of plain values, Bits as wide as one. T as in PackPanels: what other stored types are widened to.
template <typename T, typename Bits>
class PlainPacker {
 public:
  PlainPacker(const MatrixView& matrix, FirstPlace* bad)
      : matrix_(matrix), packed_(PackedFormat<T>(matrix.format)), mask_(ExponentMask<Bits>(packed_)), bad_(bad) {}

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
    if (matrix_.format == packed_) {
      std::memcpy(row, stored, count * sizeof(Bits));
    } else {
      T wide[kStep];
      numeric::Decode(matrix_.format, stored, wide, static_cast<size_t>(count));
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
  Format packed_;
  Bits mask_;
  FirstPlace* bad_;
};

// Panels of blocks that stay what they are.
class BlockPacker {
 public:
  BlockPacker(const MatrixView& matrix, FirstPlace* bad) : matrix_(matrix), bad_(bad) {}

  void Panel(int64_t panel, std::byte* out) const {
    const auto panel_layout = kernels::BlockPanelOf(matrix_.format);
    const int64_t values = numeric::ShapeOf(matrix_.format).values;
    for (int64_t first = 0; first < matrix_.inputs; first += values, out += panel_layout.block_bytes()) {
      const std::byte* blocks[kLanes] = {};
      for (int lane = 0; lane < kLanes && panel * kLanes + lane < matrix_.outputs; ++lane) {
        blocks[lane] = StoredValues(matrix_, panel * kLanes + lane, first, values, nullptr);
        const auto bad = numeric::FirstBadBlock(matrix_.format, blocks[lane], static_cast<size_t>(values));
        if (bad) bad_->Note((panel * kLanes + lane) * matrix_.inputs + first + static_cast<int64_t>(*bad));
      }
      PackBlock(matrix_.format, blocks, out);
    }
  }

 private:
  const MatrixView& matrix_;
  FirstPlace* bad_;
};

// The stored bytes of outputs that lie side by side; nothing where they are scattered.
std::span<const std::byte> StoredRows(const MatrixView& matrix, int64_t output, int64_t count) {
  if (matrix.storage != MatrixStorage::kOutputRows || !matrix.output_order.empty()) return {};
  const size_t row = numeric::FormatBytes(matrix.format, static_cast<size_t>(matrix.inputs));
  return {matrix.data + static_cast<size_t>(matrix.first_output + output) * row, static_cast<size_t>(count) * row};
}

template <typename Packer>
void PackAll(const MatrixView& matrix, const Packer& packer, std::byte* out, int64_t panel_bytes,
             base::ThreadPool& pool) {
  const int64_t panels = (matrix.outputs + kLanes - 1) / kLanes;
  const int64_t group = std::max<int64_t>(1, kGroupBytes / panel_bytes);
  // From the first row on each time: reading a page maps its neighbours too, also those let go before.
  pool.ForEach((panels + group - 1) / group, [&](int64_t task, int) {
    const int64_t first = task * group, end = std::min(panels, first + group);
    for (int64_t panel = first; panel < end; ++panel) packer.Panel(panel, out + panel * panel_bytes);
    if (matrix.mapped == nullptr) return;
    matrix.mapped->Release(StoredRows(matrix, 0, std::min(matrix.outputs, end * kLanes)));
  });
  if (matrix.mapped != nullptr) matrix.mapped->Release(StoredRows(matrix, 0, matrix.outputs));
}

}  // namespace

template <typename T>
Format PackedFormat(Format stored) {
  if (sizeof(T) == sizeof(double)) return Format::kF64;
  return stored == Format::kF64 ? Format::kF32 : stored;
}

int64_t PanelBytes(Format packed, int64_t inputs) {
  if (numeric::IsBlocks(packed)) return kernels::BlockPanelOf(packed).PanelBytes(inputs);
  return inputs * kLanes * numeric::ShapeOf(packed).bytes;
}

template <typename T>
std::optional<MatrixPlace> PackPanels(const MatrixView& matrix, std::byte* out, base::ThreadPool& pool) {
  EKVI_CHECK_OP(==, matrix.inputs % numeric::ShapeOf(matrix.format).values, 0);
  EKVI_CHECK(!numeric::IsBlocks(matrix.format) || matrix.storage == MatrixStorage::kOutputRows);
  const Format packed = PackedFormat<T>(matrix.format);
  const int64_t panel_bytes = PanelBytes(packed, matrix.inputs);
  FirstPlace bad;
  switch (packed) {
    case Format::kF64:
      PackAll(matrix, PlainPacker<T, uint64_t>(matrix, &bad), out, panel_bytes, pool);
      break;
    case Format::kF32:
      PackAll(matrix, PlainPacker<T, uint32_t>(matrix, &bad), out, panel_bytes, pool);
      break;
    case Format::kF16:
    case Format::kBF16:
      PackAll(matrix, PlainPacker<T, uint16_t>(matrix, &bad), out, panel_bytes, pool);
      break;
    default:
      PackAll(matrix, BlockPacker(matrix, &bad), out, panel_bytes, pool);
      break;
  }
  const std::optional<int64_t> place = bad.place();
  if (!place) return std::nullopt;
  return MatrixPlace{*place / matrix.inputs, *place % matrix.inputs};
}

template Format PackedFormat<float>(Format);
template Format PackedFormat<double>(Format);
template std::optional<MatrixPlace> PackPanels<float>(const MatrixView&, std::byte*, base::ThreadPool&);
template std::optional<MatrixPlace> PackPanels<double>(const MatrixView&, std::byte*, base::ThreadPool&);

}  // namespace ekvi::model
