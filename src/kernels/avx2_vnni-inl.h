// Dot products of bytes by one instruction on 256 bits, and the int8 products made of them: target avx2_vnni.
//
// The instruction has two encodings: AVX-VNNI's (VEX) and AVX-512 VNNI's (EVEX). Each has its copy, compiled with
// avx2's flags, with the instruction in assembly: that encoding is all that differs. So what runs on one kind of
// machine, in 16 registers, is tested and measured on the other.
//
// Included inside the namespace of such a copy, after vec_avx2.h. Before it, the copy defines DotOfBytes(sum, codes,
// quads) on registers.

// Twelve dot products, two of codes, one of activations: fewer where taking codes apart needs more than one register,
// in two planes or with two scales a step. 4 rows for all: Q4_0 with 12 rows 310 Gop/s, not 337, on a Zen 4 that does
// 473; 6 for all: Q5_0 236, not 271.
inline constexpr int kInt8Rows = 6, kInt8RowsOfPlanes = 5, kInt8RowsOfHalves = 4, kInt8Panels = 1;
inline constexpr int kInt8ManyRows = 16, kInt8FewRows = 6, kInt8FewRowsOfParts = 4, kInt8PanelsOfOne = 2;

template <int kBits>
EKVI_INLINE I32 Dot(I32 sum, Codes codes, const int8_t* quad) {
  const __m256i x = Quad(quad);
  return {DotOfBytes(sum.r[0], codes.r[0], x), DotOfBytes(sum.r[1], codes.r[1], x)};
}

#include "kernels/block-inl.h"
#include "kernels/product_int8-inl.h"

inline const BlockTable& Blocks() {
  static const BlockTable kTable = {.product = Avx2Blocks().product,
                                    .product_int8 = Int8ProductOf,
                                    .round_rows = Avx2Blocks().round_rows,
                                    .dot_peak = DotPeakOf};
  return kTable;
}
