// A matrix of weights times rows of activations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bench/subject.h"
#include "model/linear.h"
#include "numeric/block_format.h"

namespace ekvi::bench {

struct ProductShape {
  int64_t m, n, k;  // rows, outputs, inputs
};

// More than most caches hold; a matrix that is larger is its own copy.
inline constexpr size_t kColdBytes = size_t{128} << 20;

// Weights are cold: copies of `cold_bytes` together are used in turn.
std::unique_ptr<Subject> MakeProductSubject(const ProductShape& shape, numeric::Format format,
                                            model::BlockArithmetic arithmetic, const Place& place,
                                            size_t cold_bytes = kColdBytes);

}  // namespace ekvi::bench
