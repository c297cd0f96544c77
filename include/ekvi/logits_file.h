// Logits as a safetensors file, for comparison with other implementations and by other programs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "ekvi/dtype.h"

namespace ekvi {

// Writes `tokens` I64 [T] and `logits` [T, vocabulary], whose type is kF32 (values are rounded to nearest even; those
// of f32 arithmetic are exact) or kF64. The bytes of the file depend on the arguments only. In place in full or not at
// all, as WriteFile. Errors: kInvalidArgument for another type or where logits.size() is not a multiple of
// tokens.size(); kIo with path and reason.
void WriteLogitsFile(const std::filesystem::path& path, std::span<const int32_t> tokens, std::span<const double> logits,
                     DType type);

}  // namespace ekvi
