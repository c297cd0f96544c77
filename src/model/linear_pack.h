// Stored matrices into the panels that kernels multiply with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "numeric/block_format.h"

namespace ekvi::model {

// How a matrix lies in its tensor: [outputs, inputs], or [inputs, outputs] (not for formats of blocks).
enum class MatrixStorage { kOutputRows, kInputRows };

// A matrix, or some of the outputs of a fused one, in a tensor's bytes; owns nothing. No alignment is required.
struct MatrixView {
  std::string_view name;       // of the tensor, for messages
  std::string_view file = {};  // that holds it, likewise
  numeric::Format format = numeric::Format::kF32;
  const std::byte* data = nullptr;
  int64_t stored_outputs = 0;  // of the whole tensor
  int64_t outputs = 0;
  int64_t inputs = 0;  // a multiple of the format's block
  MatrixStorage storage = MatrixStorage::kOutputRows;
  int64_t first_output = 0;                    // output n is the stored output first_output + n,
  std::span<const int32_t> output_order = {};  // or where not empty, output_order[n]
  const base::MappedFile* mapped = nullptr;    // holds `data`: its pages are let go as they are packed
};

// A place of a matrix.
struct MatrixPlace {
  int64_t output, input;
};

// What the weights of `stored` are packed as for arithmetic in T: kF64 for double; for float the stored format, kF64 as
// kF32.
template <typename T>
numeric::Format PackedFormat(numeric::Format stored);

// Bytes of one panel of 16 outputs, see kernels::Product and kernels/block_panel.h; also where input `inputs`, a
// multiple of 256, begins in a panel.
int64_t PanelBytes(numeric::Format packed, int64_t inputs);

// Fills out[ceil(outputs / 16), panel_bytes], outputs past the last zero, threads sharing the panels. Returns the first
// place whose value is not finite once packed; `out` then holds anything.
template <typename T>
[[nodiscard]] std::optional<MatrixPlace> PackPanels(const MatrixView& matrix, std::byte* out, base::ThreadPool& pool);

}  // namespace ekvi::model
