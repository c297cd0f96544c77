// Weights in blocks into panels of 16 outputs (kernels/block_panel.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "numeric/block_format.h"

namespace ekvi::model {

// One block of each of 16 outputs (null: an output that does not exist, packed as zeros) into one block of a panel.
void PackBlock(numeric::Format format, const std::byte* const (&blocks)[16], std::byte* out);

}  // namespace ekvi::model
