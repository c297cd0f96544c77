#include "model/weights_gguf.h"

namespace ekvi::model {

std::vector<int64_t> ShapeOf(const files::GgufTensor& tensor) {
  std::vector<int64_t> shape(tensor.dim_count);
  for (uint32_t axis = 0; axis < tensor.dim_count; ++axis) {
    shape[tensor.dim_count - 1 - axis] = static_cast<int64_t>(tensor.dims[axis]);
  }
  return shape;
}

std::optional<StoredTensor> GgufSource::Find(std::string_view name) const {
  const auto [file, tensor] = parts_->Find(name);
  if (tensor == nullptr) return std::nullopt;
  return StoredTensor{.name = tensor->name,
                      .format = file->ComputedFormat(*tensor),
                      .shape = ShapeOf(*tensor),
                      .bytes = file->Data(*tensor),
                      .mapped = &file->mapped()};
}

}  // namespace ekvi::model
