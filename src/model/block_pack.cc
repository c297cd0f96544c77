// Sixteen blocks are taken apart, then each step of 32 inputs is written: its scales, and its codes turned so that four
// inputs of an output lie side by side, whose bits go to their planes eight bytes at a time.
#include "model/block_pack.h"

#include <cstring>

#include "kernels/block_panel.h"

namespace ekvi::model {
namespace {

using kernels::BlockPanel;
using numeric::BlockParts;
using numeric::BlockShape;

constexpr int kOutputs = 16, kStep = kernels::kStepInputs, kQuads = kStep / 4;
constexpr int kWords = kOutputs * 4 / 8;  // of 64 bits in a vector of four inputs
constexpr uint64_t kEachByte = 0x0101010101010101u;

// Codes of a step: [four inputs][output][4].
struct Turned {
  uint64_t quads[kQuads][kWords];
};

void Turn(const BlockParts (&parts)[kOutputs], int first, Turned* turned) {
  for (int q = 0; q < kQuads; ++q) {
    auto* const quad = reinterpret_cast<std::byte*>(turned->quads[q]);
    for (int n = 0; n < kOutputs; ++n) std::memcpy(quad + 4 * n, parts[n].codes + first + 4 * q, 4);
  }
}

// `bits` of each code from bit `from` on, as many codes in a byte as fit.
void WritePlane(const Turned& turned, int bits, int from, std::byte* out) {
  const int fit = 8 / bits;
  const uint64_t mask = ((uint64_t{1} << bits) - 1) * kEachByte;
  for (int first = 0; first < kQuads; first += fit, out += sizeof(turned.quads[0])) {
    uint64_t words[kWords] = {};
    for (int i = 0; i < fit; ++i) {
      for (int w = 0; w < kWords; ++w) words[w] |= (turned.quads[first + i][w] >> from & mask) << (i * bits);
    }
    std::memcpy(out, words, sizeof(words));
  }
}

template <typename Value, typename Of>
void WriteLine(std::byte* out, const Of& of) {
  Value line[kOutputs];
  for (int n = 0; n < kOutputs; ++n) line[n] = of(n);
  std::memcpy(out, line, sizeof(line));
}

void WriteWhole(const BlockParts (&parts)[kOutputs], const BlockShape& shape, const BlockPanel& panel, std::byte* out) {
  WriteLine<uint16_t>(out, [&](int n) { return parts[n].scale; });
  if (shape.has_min()) WriteLine<uint16_t>(out + panel.mins_at, [&](int n) { return parts[n].min; });
}

void WriteSubs(const BlockParts (&parts)[kOutputs], int step, const BlockShape& shape, const BlockPanel& panel,
               std::byte* out) {
  for (int sub = 0; sub < panel.subs; ++sub) {
    const int index = step * panel.subs + sub;
    const auto scale = [&](int n) { return parts[n].sub_scales[index]; };
    const auto min = [&](int n) { return parts[n].sub_mins[index]; };
    std::byte* const line = out + kOutputs * sub;
    if (!shape.has_min()) {
      WriteLine<uint8_t>(line, scale);
    } else if (panel.sub_mins_at == 0) {
      WriteLine<uint8_t>(line, [&](int n) { return static_cast<uint8_t>(scale(n) | min(n) << 4); });
    } else {
      WriteLine<uint8_t>(line, scale);
      WriteLine<uint8_t>(line + panel.sub_mins_at, min);
    }
  }
}

}  // namespace

void PackBlock(numeric::Format format, const std::byte* const (&blocks)[16], std::byte* out) {
  const BlockShape shape = numeric::ShapeOf(format);
  const BlockPanel panel = kernels::BlockPanelOf(format);
  const numeric::Unpacker unpack = numeric::UnpackerOf(format);
  BlockParts parts[kOutputs];
  for (int n = 0; n < kOutputs; ++n) {
    if (blocks[n] != nullptr)
      unpack(blocks[n], &parts[n]);
    else
      parts[n] = {};
  }
  const bool subs = shape.sub_scale != numeric::SubScale::kNone;
  if (subs) WriteWhole(parts, shape, panel, out);
  out += panel.head_bytes;
  for (int step = 0; step < panel.steps; ++step, out += panel.step_bytes) {
    if (subs)
      WriteSubs(parts, step, shape, panel, out);
    else
      WriteWhole(parts, shape, panel, out);
    Turned turned;
    Turn(parts, step * kStep, &turned);
    WritePlane(turned, shape.low_bits, 0, out + panel.low_at);
    if (shape.high_bits > 0) WritePlane(turned, shape.high_bits, shape.low_bits, out + panel.high_at);
  }
}

}  // namespace ekvi::model
