// Safetensors files as a source of weights: one, or those of a folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/safetensors.h"
#include "files/safetensors_folder.h"
#include "model/weight_source.h"

namespace ekvi::model {

// F64, F32, F16 and BF16; Find refuses other types by name.
class SafetensorsSource final : public TensorSource {
 public:
  explicit SafetensorsSource(std::shared_ptr<const files::SafetensorsFile> file) : file_(std::move(file)) {}
  // For a file that outlives all weights taken from it.
  explicit SafetensorsSource(const files::SafetensorsFile& file) : file_(std::shared_ptr<const void>(), &file) {}

  std::optional<StoredTensor> Find(std::string_view name) const override;
  bool Has(std::string_view name) const override { return file_->Find(name) != nullptr; }
  std::shared_ptr<const void> owner() const override { return file_; }
  std::string file() const override { return file_->name(); }

 private:
  std::shared_ptr<const files::SafetensorsFile> file_;
};

// The same for all files of a folder.
class SafetensorsFolderSource final : public TensorSource {
 public:
  explicit SafetensorsFolderSource(std::shared_ptr<const files::SafetensorsFolder> folder)
      : folder_(std::move(folder)) {}

  std::optional<StoredTensor> Find(std::string_view name) const override;
  bool Has(std::string_view name) const override { return folder_->Find(name).tensor != nullptr; }
  std::shared_ptr<const void> owner() const override { return folder_; }
  std::string file() const override { return folder_->name(); }

 private:
  std::shared_ptr<const files::SafetensorsFolder> folder_;
};

// The type that the arithmetic knows a safetensors type by, if any.
std::optional<DType> ComputedSafetensorsType(std::string_view name);

}  // namespace ekvi::model
