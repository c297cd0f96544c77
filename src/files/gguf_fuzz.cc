// What must hold: any bytes are refused, or are a file whose keys can all be read by every getter and whose tensors lie
// in it, aligned and apart.
#include <algorithm>

#include "files/gguf.h"
#include "files/gguf_parts.h"
#include "files/gguf_test_builder.h"
#include "fuzzing.h"

namespace ekvi::fuzzing {
namespace {

using files::GgufBuilder, files::GgufFile, files::GgufParts, files::GgufTensor;

// All items: a sanitizer sees a read outside of the input.
template <typename T>
void ReadAll(const std::optional<files::GgufItems<T>>& items) {
  [[maybe_unused]] volatile T seen;
  for (size_t i = 0; items && i < items->size(); ++i) seen = (*items)[i];
}

void ReadAll(const std::optional<files::GgufStrings>& strings) {
  if (!strings) return;
  size_t count = 0;
  [[maybe_unused]] volatile char seen;
  for (const std::string_view string : *strings) {
    ++count;
    if (!string.empty()) seen = string.back();
  }
  EKVI_CHECK_OP(==, count, strings->size());
}

void ReadKey(const GgufFile& file, std::string_view key) {
  Works([&] { file.GetUint(key); });
  Works([&] { file.GetF32(key); });
  Works([&] { file.GetBool(key); });
  Works([&] { file.GetString(key); });
  Works([&] { ReadAll(file.GetStrings(key)); });
  Works([&] { ReadAll(file.GetF32s(key)); });
  Works([&] { ReadAll(file.GetI32s(key)); });
  Works([&] { ReadAll(file.GetU32s(key)); });
  Works([&] { ReadAll(file.GetBools(key)); });
}

void CheckTensors(const GgufFile& file) {
  std::vector<const GgufTensor*> tensors;
  for (const GgufTensor& tensor : file.tensors()) {
    EKVI_CHECK(file.FindTensor(tensor.name) == &tensor);
    EKVI_CHECK_OP(==, tensor.offset % file.alignment(), 0u);
    EKVI_CHECK_OP(<=, tensor.bytes, file.file_bytes());
    EKVI_CHECK_OP(<=, tensor.offset, file.file_bytes() - tensor.bytes);
    Works([&] { file.ComputedFormat(tensor); });
    tensors.push_back(&tensor);
  }
  std::ranges::sort(tensors, {}, &GgufTensor::offset);
  for (size_t i = 1; i < tensors.size(); ++i)
    EKVI_CHECK_OP(<=, tensors[i - 1]->offset + tensors[i - 1]->bytes, tensors[i]->offset);
}

// A value of each type, an array of each, tensors of several.
std::string EveryType() {
  GgufBuilder builder;
  for (const uint32_t type : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 10u, 11u, 12u}) {
    const size_t size = files::GgufTypeBytes(static_cast<files::GgufType>(type));
    builder.Value("v" + std::to_string(type), type, std::string(size, '\1'));
    builder.Array("a" + std::to_string(type), type, 2, std::string(2 * size, '\1'));
  }
  builder.U32("general.alignment", 64).String("general.architecture", "llama").Strings("s", {"", "a", "bc"});
  builder.alignment = 64;
  builder.Tensor("t.f32", {2, 3}, 0, std::string(24, 'x')).Tensor("t.q4_0", {32}, 2, std::string(18, 'x'));
  return builder.Tensor("t.q6_k", {256, 1, 1, 1}, 14, std::string(210, 'x')).Build();
}

}  // namespace

void TryInput(std::string_view input) {
  const GgufFile file = GgufFile::Borrow(files::AsBytes(input), "input");
  EKVI_CHECK_OP(==, file.MetadataText().size(), file.values().size());
  for (const files::GgufValue& value : file.values()) {
    EKVI_CHECK(file.Find(value.key) == &value);
    ReadKey(file, value.key);
  }
  CheckTensors(file);
  const auto parts = GgufParts::Borrow(files::AsBytes(input), "input");
  EKVI_CHECK_OP(==, parts->tensors().size(), file.tensors().size());
}

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds = SharedFiles("models/bad", ".gguf", 8192);
  seeds.push_back(EveryType());
  GgufBuilder old;
  old.version = 2;
  seeds.push_back(old.U32("split.no", 0).U32("split.count", 1).Tensor("t", {1}, 30, "xx").Build());
  return seeds;
}

}  // namespace ekvi::fuzzing
