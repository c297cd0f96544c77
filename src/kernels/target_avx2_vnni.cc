// The int8 products on target avx2_vnni, for machines with AVX-VNNI; everything else is that of avx2.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx2.h"

namespace ekvi::kernels {
namespace avx2_vnni {

using namespace avx2;

EKVI_INLINE __m256i DotOfBytes(__m256i sum, __m256i codes, __m256i quads) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(codes), "x"(quads));
  return sum;
}

#include "kernels/avx2_vnni-inl.h"

}  // namespace avx2_vnni

const BlockTable& Avx2VnniBlocks() { return avx2_vnni::Blocks(); }

}  // namespace ekvi::kernels
