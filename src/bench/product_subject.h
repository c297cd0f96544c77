// A matrix of weights times rows of activations.
#pragma once

#include <cstdint>
#include <memory>

#include "bench/subject.h"
#include "model/linear.h"
#include "numeric/block_format.h"

namespace ekvi::bench {

struct ProductShape {
  int64_t m, n, k;  // rows, outputs, inputs
};

// Weights are cold: copies that no cache holds together are used in turn.
std::unique_ptr<Subject> MakeProductSubject(const ProductShape& shape, numeric::Format format,
                                            model::BlockArithmetic arithmetic, const Place& place);

}  // namespace ekvi::bench
