// The kernels on target avx512: the shared sources over vec_avx512.h.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx512.h"

namespace ekvi::kernels {
namespace avx512 {

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

}  // namespace avx512

const Table<float>& Avx512F32() { return avx512::kTable<float>; }
const BlockTable& Avx512Blocks() { return avx512::kBlockTable; }
const Table<double>& Avx512F64() { return avx512::kTable<double>; }

}  // namespace ekvi::kernels
