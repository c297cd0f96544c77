// The kernels on target avx2: the shared sources over vec_avx2.h.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx2.h"

namespace ekvi::kernels {
namespace avx2 {

template <int kBits>
EKVI_INLINE I32 Dot(I32 sum, Codes codes, const int8_t* quad) {
  return DotInPairs<kBits>(sum, codes, quad);
}

#include "kernels/block-inl.h"
#include "kernels/product-inl.h"
#include "kernels/product_blocks-inl.h"
#include "kernels/product_int8-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/table-inl.h"

}  // namespace avx2

const Table<float>& Avx2F32() { return avx2::kTable<float>; }
const BlockTable& Avx2Blocks() { return avx2::kBlockTable; }
const Table<double>& Avx2F64() { return avx2::kTable<double>; }

}  // namespace ekvi::kernels
