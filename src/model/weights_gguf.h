// A GGUF file as a source of weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/gguf.h"
#include "model/weight_source.h"

namespace ekvi::model {

class GgufSource final : public TensorSource {
 public:
  explicit GgufSource(std::shared_ptr<const files::GgufFile> file) : file_(std::move(file)) {}

  std::optional<StoredTensor> Find(std::string_view name) const override;
  std::shared_ptr<const void> owner() const override { return file_; }
  std::string file() const override { return file_->name(); }

 private:
  std::shared_ptr<const files::GgufFile> file_;
};

// The tensor's shape, slowest axis first.
std::vector<int64_t> ShapeOf(const files::GgufTensor& tensor);

}  // namespace ekvi::model
