// For tests: a GGUF file as several that belong together.
#pragma once

#include <string>
#include <vector>

#include "files/gguf.h"
#include "files/gguf_test_builder.h"

namespace ekvi::files {

// A value as it stands in a file behind its type.
inline std::string StoredValue(const GgufValue& value) {
  const std::string payload(reinterpret_cast<const char*>(value.payload.data()), value.payload.size());
  if (value.type == GgufType::kString) return GgufString(payload);
  if (value.type == GgufType::kArray)
    return GgufBytes(static_cast<uint32_t>(value.item_type)) + GgufBytes(value.count) + payload;
  return payload;
}

// The bytes of `count` files: the first has the metadata, tensors go round.
inline std::vector<std::string> SplitGguf(const GgufFile& file, int count) {
  std::vector<GgufBuilder> builders(count);
  for (const GgufValue& value : file.values())
    builders[0].Value(value.key, static_cast<uint32_t>(value.type), StoredValue(value));
  for (int i = 0; i < count; ++i) {
    builders[i].Value("split.no", 2, GgufBytes(static_cast<uint16_t>(i)));
    builders[i].Value("split.count", 2, GgufBytes(static_cast<uint16_t>(count)));
    builders[i].Value("split.tensors.count", 5, GgufBytes(static_cast<int32_t>(file.tensors().size())));
  }
  for (size_t i = 0; i < file.tensors().size(); ++i) {
    const GgufTensor& tensor = file.tensors()[i];
    const auto bytes = file.Data(tensor);
    builders[i % count].Tensor(tensor.name, {tensor.dims.begin(), tensor.dims.begin() + tensor.dim_count},
                               tensor.type->id, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::vector<std::string> files;
  for (const GgufBuilder& builder : builders) files.push_back(builder.Build());
  return files;
}

// "stem-00001-of-00003.gguf", `index` counted from 0.
inline std::string PartName(const std::string& stem, int index, int count) {
  const auto five = [](int number) {
    const std::string digits = std::to_string(number);
    return std::string(5 - digits.size(), '0') + digits;
  };
  return stem + "-" + five(index + 1) + "-of-" + five(count) + ".gguf";
}

}  // namespace ekvi::files
