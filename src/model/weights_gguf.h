// A model's GGUF files as a source of weights.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "files/gguf_parts.h"
#include "model/weight_source.h"

namespace ekvi::model {

class GgufSource final : public TensorSource {
 public:
  explicit GgufSource(std::shared_ptr<const files::GgufParts> parts) : parts_(std::move(parts)) {}

  std::optional<StoredTensor> Find(std::string_view name) const override;
  bool Has(std::string_view name) const override { return parts_->Has(name); }
  std::shared_ptr<const void> owner() const override { return parts_; }
  std::string file() const override { return parts_->first().name(); }

 private:
  std::shared_ptr<const files::GgufParts> parts_;
};

// The tensor's shape, slowest axis first.
std::vector<int64_t> ShapeOf(const files::GgufTensor& tensor);

}  // namespace ekvi::model
