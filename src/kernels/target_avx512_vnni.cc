// The int8 products on target avx512_vnni; everything else is that of avx512.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx512.h"

namespace ekvi::kernels {
namespace avx512_vnni {

using namespace avx512;

template <int kBits>
EKVI_INLINE I32 Dot(I32 sum, Codes codes, const int8_t* quad) {
  return I32(_mm512_dpbusd_epi32(sum.v, codes.v, Quad(quad)));
}

#include "kernels/block-inl.h"
#include "kernels/product_int8-inl.h"

}  // namespace avx512_vnni

const BlockTable& Avx512VnniBlocks() {
  static const BlockTable kTable = {.product = Avx512Blocks().product,
                                    .product_int8 = avx512_vnni::Int8ProductOf,
                                    .round_rows = Avx512Blocks().round_rows,
                                    .dot_peak = avx512_vnni::DotPeakOf};
  return kTable;
}

}  // namespace ekvi::kernels
