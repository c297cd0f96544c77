// What must hold: any bytes are refused, or are a file whose tensors tile its data and are as long as their shapes say.
// An input is tried as a file, and as a header that gets the length and the data it asks for.
#include "files/gguf_test_builder.h"
#include "files/safetensors.h"
#include "fuzzing.h"

namespace ekvi::fuzzing {
namespace {

using files::SafetensorsFile, files::SafetensorsTensor;

constexpr uint64_t kDataMost = 4096;

void CheckFile(std::string_view bytes) {
  const SafetensorsFile file = SafetensorsFile::Borrow(files::AsBytes(bytes), "input");
  uint64_t covered = 0, length;
  std::memcpy(&length, bytes.data(), sizeof(length));
  for (const SafetensorsTensor& tensor : file.tensors()) {
    EKVI_CHECK(file.Find(tensor.name) == &tensor);
    uint64_t values = 1;
    for (const uint64_t dim : tensor.shape) values *= dim;
    EKVI_CHECK_OP(==, values * tensor.type->bits, 8 * file.Data(tensor).size());
    Works([&] { EKVI_CHECK_OP(==, file.ReadF64(tensor.name).size(), values); });
    Works([&] { EKVI_CHECK_OP(==, file.ReadI64(tensor.name).size(), values); });
    covered += file.Data(tensor).size();
  }
  EKVI_CHECK_OP(==, covered + length + sizeof(length), bytes.size());
  for (const auto& [key, value] : file.metadata()) EKVI_CHECK(file.Metadata(key) == value);
}

std::string Tensor(std::string_view type, std::string_view shape, int begin, int end) {
  return "\"" + std::string(type) + R"(":{"dtype":")" + std::string(type) + R"(","shape":)" + std::string(shape) +
         R"(,"data_offsets":[)" + std::to_string(begin) + "," + std::to_string(end) + "]}";
}

}  // namespace

void TryInput(std::string_view input) {
  if (Works([&] { CheckFile(input); })) return;
  uint64_t end = 0;
  for (const SafetensorsTensor& tensor : files::ParseSafetensorsHeader(input, "input").tensors)
    end = std::max(end, tensor.end);
  if (end > kDataMost) return;
  const std::string file = files::GgufBytes<uint64_t>(input.size()) + std::string(input) + std::string(end, '\x7F');
  CheckFile(file);
}

std::vector<std::string> Seeds() {
  const std::string header = R"({"__metadata__":{"format":"pt","\u00e9":""},)" + Tensor("F32", "[2,3]", 0, 24) + "," +
                             Tensor("I64", "[]", 24, 32) + "," + Tensor("F4", "[4,2]", 32, 36) + "," +
                             Tensor("BF16", "[0,7]", 36, 36) + "," + Tensor("U64", "[1]", 36, 44) + "}";
  std::vector<std::string> seeds = SharedFiles("models/bad", "model.safetensors", 8192);
  seeds.push_back(header);
  seeds.push_back(files::GgufBytes<uint64_t>(header.size()) + header + std::string(44, 'x'));
  return seeds;
}

}  // namespace ekvi::fuzzing
