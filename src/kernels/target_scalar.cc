// The kernels on target scalar: the shared sources over vec_scalar.h.
#include <limits>

#include "kernels/blocks.h"
#include "kernels/kernels.h"
#include "kernels/targets.h"
#include "kernels/vec_scalar.h"

namespace ekvi::kernels {
namespace scalar {

#include "kernels/block-inl.h"
#include "kernels/product-inl.h"
#include "kernels/product_blocks-inl.h"
#include "kernels/product_int8-inl.h"
#include "kernels/rows-inl.h"
#include "kernels/scores-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/table-inl.h"

}  // namespace scalar

const Table<float>& ScalarF32() { return scalar::kTable<float>; }
const BlockTable& ScalarBlocks() { return scalar::kBlockTable; }
const Table<double>& ScalarF64() { return scalar::kTable<double>; }

}  // namespace ekvi::kernels
