// The kernels on target scalar: the shared sources over vec_scalar.h.
#include <limits>

#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_scalar.h"

namespace ekvi::kernels {
namespace scalar {

#include "kernels/product-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/table-inl.h"

}  // namespace scalar

const Table<float>& ScalarF32() { return scalar::kTable<float>; }
const Table<double>& ScalarF64() { return scalar::kTable<double>; }

}  // namespace ekvi::kernels
