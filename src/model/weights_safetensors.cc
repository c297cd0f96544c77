#include "model/weights_safetensors.h"

#include <fmt/format.h>

#include "files/reader_error.h"

namespace ekvi::model {
namespace {

StoredTensor Stored(const files::SafetensorsFile& file, const files::SafetensorsTensor& tensor) {
  const std::optional<DType> dtype = ComputedSafetensorsType(tensor.type->name);
  if (!dtype) {
    throw files::FileError(
        ErrorCode::kUnsupported, file.name(),
        fmt::format("tensor {}: element type {} is not computed", files::Quote(tensor.name), tensor.type->name),
        fmt::format("shape {}", tensor.ShapeText()), "use the model in F64, F32, F16 or BF16");
  }
  return {.name = tensor.name,
          .format = numeric::FormatOf(*dtype),
          .shape = {tensor.shape.begin(), tensor.shape.end()},
          .bytes = file.Data(tensor)};
}

}  // namespace

std::optional<DType> ComputedSafetensorsType(std::string_view name) {
  if (name == "F64") return DType::kF64;
  if (name == "F32") return DType::kF32;
  if (name == "F16") return DType::kF16;
  if (name == "BF16") return DType::kBF16;
  return std::nullopt;
}

std::optional<StoredTensor> SafetensorsSource::Find(std::string_view name) const {
  const files::SafetensorsTensor* tensor = file_->Find(name);
  if (tensor == nullptr) return std::nullopt;
  return Stored(*file_, *tensor);
}

std::optional<StoredTensor> SafetensorsFolderSource::Find(std::string_view name) const {
  const auto [file, tensor] = folder_->Find(name);
  if (tensor == nullptr) return std::nullopt;
  return Stored(*file, *tensor);
}

}  // namespace ekvi::model
