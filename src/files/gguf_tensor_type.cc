// Numbers and block layouts after ggml's headers (ggml.h, ggml-common.h; MIT licence). A block of the K, IQ and TQ
// types holds 256 values, of the older types 32. Some forks give numbers 41 and 42 other blocks; their files do not add
// up here.
#include "files/gguf_tensor_type.h"

#include <algorithm>
#include <array>

namespace ekvi::files {
namespace {

using numeric::Format;

constexpr auto kTypes = std::to_array<GgufTensorType>({
    {0, "F32", 1, 4, Format::kF32},
    {1, "F16", 1, 2, Format::kF16},
    {2, "Q4_0", 32, 18, Format::kQ4_0},
    {3, "Q4_1", 32, 20, Format::kQ4_1},
    {6, "Q5_0", 32, 22, Format::kQ5_0},
    {7, "Q5_1", 32, 24, Format::kQ5_1},
    {8, "Q8_0", 32, 34, Format::kQ8_0},
    {9, "Q8_1", 32, 36, {}},
    {10, "Q2_K", 256, 84, Format::kQ2_K},
    {11, "Q3_K", 256, 110, Format::kQ3_K},
    {12, "Q4_K", 256, 144, Format::kQ4_K},
    {13, "Q5_K", 256, 176, Format::kQ5_K},
    {14, "Q6_K", 256, 210, Format::kQ6_K},
    {15, "Q8_K", 256, 292, {}},
    {16, "IQ2_XXS", 256, 66, {}},
    {17, "IQ2_XS", 256, 74, {}},
    {18, "IQ3_XXS", 256, 98, {}},
    {19, "IQ1_S", 256, 50, {}},
    {20, "IQ4_NL", 32, 18, Format::kIQ4_NL},
    {21, "IQ3_S", 256, 110, {}},
    {22, "IQ2_S", 256, 82, {}},
    {23, "IQ4_XS", 256, 136, Format::kIQ4_XS},
    {24, "I8", 1, 1, {}},
    {25, "I16", 1, 2, {}},
    {26, "I32", 1, 4, {}},
    {27, "I64", 1, 8, {}},
    {28, "F64", 1, 8, Format::kF64},
    {29, "IQ1_M", 256, 56, {}},
    {30, "BF16", 1, 2, Format::kBF16},
    {34, "TQ1_0", 256, 54, {}},
    {35, "TQ2_0", 256, 66, {}},
    {39, "MXFP4", 32, 17, Format::kMXFP4},
    {40, "NVFP4", 64, 36, {}},
    {41, "Q1_0", 128, 18, {}},
    {42, "Q2_0", 64, 18, {}},
});

struct Removed {
  uint32_t id;
  std::string_view name;
};

constexpr auto kRemoved = std::to_array<Removed>({{4, "Q4_2"},
                                                  {5, "Q4_3"},
                                                  {31, "Q4_0_4_4"},
                                                  {32, "Q4_0_4_8"},
                                                  {33, "Q4_0_8_8"},
                                                  {36, "IQ4_NL_4_4"},
                                                  {37, "IQ4_NL_4_8"},
                                                  {38, "IQ4_NL_8_8"}});

}  // namespace

const GgufTensorType* FindGgufTensorType(uint32_t id) {
  const auto* type = std::ranges::find(kTypes, id, &GgufTensorType::id);
  return type == kTypes.end() ? nullptr : type;
}

std::string_view RemovedGgufTensorType(uint32_t id) {
  const auto* type = std::ranges::find(kRemoved, id, &Removed::id);
  return type == kRemoved.end() ? std::string_view() : type->name;
}

}  // namespace ekvi::files
