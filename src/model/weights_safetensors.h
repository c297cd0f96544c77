// A safetensors file as a source of weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/safetensors.h"
#include "model/weight_source.h"

namespace ekvi::model {

// F64, F32, F16 and BF16; Find refuses other types by name.
class SafetensorsSource final : public TensorSource {
 public:
  explicit SafetensorsSource(std::shared_ptr<const files::SafetensorsFile> file) : file_(std::move(file)) {}
  // For a file that outlives all weights taken from it.
  explicit SafetensorsSource(const files::SafetensorsFile& file) : file_(std::shared_ptr<const void>(), &file) {}

  std::optional<StoredTensor> Find(std::string_view name) const override;
  std::shared_ptr<const void> owner() const override { return file_; }
  std::string file() const override { return file_->name(); }

 private:
  std::shared_ptr<const files::SafetensorsFile> file_;
};

}  // namespace ekvi::model
