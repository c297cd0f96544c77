// The int8 products on target avx2_vnni, for machines with AVX-512 VNNI; everything else is that of avx2.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx2.h"

namespace ekvi::kernels {
namespace avx2_vnni_evex {

using namespace avx2;

EKVI_INLINE __m256i DotOfBytes(__m256i sum, __m256i codes, __m256i quads) {
  asm("%{evex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(codes), "x"(quads));
  return sum;
}

#include "kernels/avx2_vnni-inl.h"

}  // namespace avx2_vnni_evex

const BlockTable& Avx2VnniEvexBlocks() { return avx2_vnni_evex::Blocks(); }

}  // namespace ekvi::kernels
