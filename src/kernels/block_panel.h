// How weights in blocks lie once packed: panels of 16 outputs, the same parts for every format.
//
// A panel is a row of blocks of the format's own length (32 or 256 inputs). A block is a head and one step per 32
// inputs; a step is scales, minima and codes, in that order:
//
//   head   formats with sub-scales: f16[16] scales, then f16[16] minima where there are some; else nothing
//   step   without sub-scales: f16[16] scales (bf16 for MXFP4), then f16[16] minima where there are some
//          with sub-scales: uint8 or int8 [scales of a step][16], then minima likewise; where codes have two bits and
//          there are minima (Q2_K), both in one byte, the minimum in the upper half
//          codes, by planes of bits: 8 bits: [8][16][4]; 4 bits: [4][16][4], input 8g + j in the low half of byte
//          (g, output, j), 8g + 4 + j in the high half; 2 bits: [2][16][4], input 16g + 4p + j at bits 2p; 1 bit:
//          [16][4], input 4p + j at bit p. First the low bits of the codes, then the high ones.
//
// So four inputs of 16 outputs are the 64 bytes of one vector, ready for a dot product with four activations, and the
// panels are as large as the file's blocks but for sub-scales of whole bytes (3.6 % at most) and MXFP4's scales (6 %).
// Codes are those of numeric::BlockParts.
#pragma once

#include <cstdint>

#include "numeric/block_format.h"

namespace ekvi::kernels {

inline constexpr int kStepInputs = 32;

struct BlockPanel {
  int steps;  // of a block
  int head_bytes, step_bytes;
  int scales_at, mins_at;          // in the step, or in the head for those that sub-scales multiply
  int sub_scales_at, sub_mins_at;  // in the step; equal where they share bytes
  int low_at, high_at;             // in the step
  int subs;                        // scales of a step: 1 or 2

  constexpr int64_t block_bytes() const { return head_bytes + int64_t{steps} * step_bytes; }
  // Of `inputs`, a multiple of the block.
  constexpr int64_t PanelBytes(int64_t inputs) const { return inputs / (int64_t{steps} * kStepInputs) * block_bytes(); }
};

constexpr BlockPanel BlockPanelOf(numeric::Format format) {
  constexpr int kOutputs = 16, kF16Bytes = 2 * kOutputs;
  const numeric::BlockShape shape = numeric::ShapeOf(format);
  const bool has_subs = shape.sub_scale != numeric::SubScale::kNone;
  const bool shared = has_subs && shape.has_min() && shape.low_bits == 2;
  const int whole = kF16Bytes * (shape.has_min() ? 2 : 1);
  BlockPanel panel{};
  panel.steps = shape.values / kStepInputs;
  panel.subs = kStepInputs / shape.scale_values;
  panel.head_bytes = has_subs ? whole : 0;
  panel.mins_at = kF16Bytes;
  panel.sub_mins_at = shared || !shape.has_min() ? 0 : panel.subs * kOutputs;
  panel.low_at = has_subs ? panel.sub_mins_at + panel.subs * kOutputs : whole;
  panel.high_at = panel.low_at + shape.low_bits * kStepInputs * kOutputs / 8;
  panel.step_bytes = panel.high_at + shape.high_bits * kStepInputs * kOutputs / 8;
  return panel;
}

}  // namespace ekvi::kernels
