// The tables that the target_*.cc files define, for the dispatcher.
#pragma once

#include "kernels/blocks.h"
#include "kernels/kernels.h"

namespace ekvi::kernels {

const Table<float>& ScalarF32();
const Table<double>& ScalarF64();
const Table<float>& Avx2F32();
const Table<double>& Avx2F64();
const Table<float>& Avx512F32();
const Table<double>& Avx512F64();
const BlockTable& ScalarBlocks();
const BlockTable& Avx2Blocks();
// The same code but for the encoding of one instruction: AVX-VNNI's, and that of AVX-512 VNNI.
const BlockTable& Avx2VnniBlocks();
const BlockTable& Avx2VnniEvexBlocks();
const BlockTable& Avx512Blocks();
const BlockTable& Avx512VnniBlocks();

}  // namespace ekvi::kernels
