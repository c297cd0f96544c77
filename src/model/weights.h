// The weights of a decoder, checked and packed once, then read-only and shared by any number of decoders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/config.h"
#include "model/linear.h"
#include "model/weight_source.h"

namespace ekvi::model {

// Rows looked up by index: embeddings and learned positions, read where the file has them.
template <typename T>
class RowTable {
 public:
  RowTable() = default;  // no rows
  // `tensor` is [rows, width] of any type; `owner` keeps its bytes.
  RowTable(const StoredTensor& tensor, std::shared_ptr<const void> owner);

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  // out[width]; 0 ≤ row < rows(). F64 rounds to float where T is float, all else is the
  // stored value.
  void Read(int64_t row, T* out) const noexcept;
  // Lets go of the memory that the pages of rows read so far take in this process. They stay readable.
  void LetGo() const noexcept;
  // The place (row × width + column) of the first value of rows begin … end - 1 that is not finite.
  std::optional<int64_t> FirstNotFinite(int64_t begin, int64_t end) const;

 private:
  std::shared_ptr<const void> owner_;
  const base::MappedFile* mapped_ = nullptr;  // owner_'s
  const std::byte* data_ = nullptr;
  numeric::Format format_ = numeric::Format::kF32;
  int64_t rows_ = 0, width_ = 0;
  size_t row_bytes_ = 0;
};

template <typename T>
struct NormWeights {
  std::vector<T> weight, bias;  // [width], or empty
};

template <typename T>
struct FeedForwardWeights {
  Linear<T> gate, up, down;  // width → ffn width → width
};

template <typename T>
struct LayerWeights {
  NormWeights<T> attention_norm, attention_out_norm, ffn_norm, ffn_out_norm;
  NormWeights<T> q_norm, k_norm;
  Linear<T> q, k, v;          // width → heads × head size
  Linear<T> o;                // q_heads × head_dim_v → width
  FeedForwardWeights<T> ffn;  // of a dense layer
  Linear<T> router;           // width → experts
  std::vector<FeedForwardWeights<T>> experts;
  std::vector<double> sink_logits;  // [q_heads], or empty
};

// Operations (a multiplication and an addition each count), and bytes of weights that are read. The head is counted
// apart: only tokens whose logits are wanted take it.
struct TokenCost {
  double operations = 0, bytes = 0;
  double head_operations = 0, head_bytes = 0;
};

template <typename T>
struct DecoderWeights {
  DecoderConfig config;
  RowTable<T> embedding;  // [vocabulary, width]
  RowTable<T> positions;  // [learned_positions, width]
  std::vector<LayerWeights<T>> layers;
  NormWeights<T> final_norm;
  Linear<T> head;  // width → vocabulary

  // Bytes held beside the file's own.
  size_t bytes() const;
  // What one token takes: of a mixture's experts, those that are chosen.
  TokenCost per_token() const;
  // Whether some matrix is multiplied as integers.
  bool int8() const;
};

// Validates the configuration, then finds, checks and packs every tensor it needs, on all threads of the pool. T is
// float or double. Errors (kCorrupt): a tensor that is missing, of another shape (both shapes named), or not finite
// somewhere.
template <typename T>
std::shared_ptr<const DecoderWeights<T>> LoadWeights(const DecoderConfig& config, const WeightNames& names,
                                                     const TensorSource& source, base::ThreadPool& pool,
                                                     BlockArithmetic arithmetic = BlockArithmetic::kFloat);

}  // namespace ekvi::model
