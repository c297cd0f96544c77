// Where weights come from: tensors by name, whatever file holds them, and the names a family gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/dtype.h"
#include "model/linear_pack.h"

namespace ekvi::model {

// A tensor's bytes where they lie; no alignment is promised.
struct StoredTensor {
  std::string_view name;
  numeric::Format format = numeric::Format::kF32;
  std::vector<int64_t> shape = {};           // slowest axis first
  std::span<const std::byte> bytes = {};     // exactly FormatBytes of the shape
  const base::MappedFile* mapped = nullptr;  // the file that holds them, where its pages may be let go once read

  int64_t values() const { return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()); }
};

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // Nothing where the file has none of that name. kUnsupported, naming tensor and type, where its type is not computed.
  virtual std::optional<StoredTensor> Find(std::string_view name) const = 0;
  // Whether there is one of that name, of whatever type.
  virtual bool Has(std::string_view name) const = 0;
  // Keeps all bytes where they are while somebody holds it; may be null where they outlive everything.
  virtual std::shared_ptr<const void> owner() const = 0;
  // The file's name, for messages.
  virtual std::string file() const = 0;
};

// Rows (outputs, or values of a vector) of a tensor, possibly of a fused one: the n-th is the tensor's first + n ×
// step, or order[n]. An empty name means: there is none.
struct TensorRef {
  std::string tensor;
  int64_t first = 0, step = 1;
  std::vector<int32_t> order = {};
  int64_t stored = 0;  // rows of the whole tensor; 0: as many as are asked for
  MatrixStorage storage = MatrixStorage::kOutputRows;
  int64_t slice = 0, slices = 0;  // one matrix or vector of a tensor that stacks `slices`; 0: it is not stacked
  double shift = 0;               // added to every value of a vector
};

struct NormNames {
  TensorRef weight, bias;
};

struct FeedForwardNames {
  TensorRef gate, up, down, gate_bias, up_bias, down_bias;
};

struct LayerNames {
  NormNames attention_norm, attention_out_norm, ffn_norm, ffn_out_norm, q_norm, k_norm;
  TensorRef q, k, v, o, q_bias, k_bias, v_bias, o_bias;
  FeedForwardNames ffn;  // of a dense layer
  TensorRef router, router_bias;
  // One for each expert, or one alone for all: slices of the same tensors, numbered by the expert. Naming ends behind
  // the first that the file does not have, since a file may claim more experts than memory can name.
  std::vector<FeedForwardNames> experts;
  TensorRef sink_logits;
};

// What a family says: which tensor is what. Names that the configuration does not need are not looked up.
struct WeightNames {
  TensorRef embedding, positions;
  std::vector<LayerNames> layers;
  NormNames final_norm;
  TensorRef head, head_bias;
};

}  // namespace ekvi::model
