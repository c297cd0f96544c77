// The kernels on target avx512: the shared sources over vec_avx512.h.
#include <limits>

#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_avx512.h"

namespace ekvi::kernels {
namespace avx512 {

#include "kernels/product-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/table-inl.h"

}  // namespace avx512

const Table<float>& Avx512F32() { return avx512::kTable<float>; }
const Table<double>& Avx512F64() { return avx512::kTable<double>; }

}  // namespace ekvi::kernels
