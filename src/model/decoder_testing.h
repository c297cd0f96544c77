// For tests: models from random weights, and a decoder that is as plain as the formula, in float64.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "ekvi/cache.h"
#include "model/decoder.h"
#include "model/weights.h"

namespace ekvi::model::testing {

// Tensors in memory. Values are given in float64 and stored in `dtype`; Values() gives back what is stored.
class MemorySource final : public TensorSource, public std::enable_shared_from_this<MemorySource> {
 public:
  void Add(const std::string& name, std::vector<int64_t> shape, const std::vector<double>& values,
           DType dtype = DType::kF64);
  void Remove(const std::string& name) { tensors_.erase(name); }
  std::vector<double> Values(const std::string& name) const;
  // Overwrites one stored value.
  void Set(const std::string& name, int64_t index, double value);

  std::optional<StoredTensor> Find(std::string_view name) const override;
  bool Has(std::string_view name) const override { return tensors_.find(name) != tensors_.end(); }
  std::shared_ptr<const void> owner() const override { return shared_from_this(); }
  std::string file() const override { return "memory"; }

 private:
  struct Tensor {
    std::vector<int64_t> shape;
    DType dtype;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Tensor, std::less<>> tensors_;
};

// A model of random weights under plain names: "layers.0.q", "layers.0.q_bias", "embedding", "head".
struct TestModel {
  DecoderConfig config;
  WeightNames names;
  std::shared_ptr<MemorySource> source;

  template <typename T>
  std::shared_ptr<const DecoderWeights<T>> Weights() const {
    base::ThreadPool pool(1);
    return LoadWeights<T>(config, names, *source, pool);
  }
};
TestModel RandomModel(const DecoderConfig& config, uint64_t seed, DType dtype = DType::kF64);

// Small configurations. Llama: RMS, rotary, gate. Gpt: layer norms with bias, learned positions, biases, no gate.
DecoderConfig LlamaLike(int q_heads, int kv_heads, int layers = 2);
DecoderConfig GptLike(int layers = 2);
// `layer` with a mixture of `count` experts, gated as the layer is.
void MakeMixture(LayerConfig& layer, int count, int used, RouterWeights weights = RouterWeights::kSoftmaxOfChosen);

// What one pass over a whole text gives, in float64, computed by loops without cache, chunks or vectors.
struct ReferencePass {
  std::vector<double> logits;  // [tokens, vocabulary]
  std::vector<double> hidden;  // [tokens, width] before the final norm
};
ReferencePass ReferenceForward(const TestModel& model, const std::vector<int32_t>& tokens);

std::vector<int32_t> RandomTokens(int count, int vocabulary, uint64_t seed);

// Steps that feed row `row` of a cache in the given counts; returns the logits of all tokens [tokens, vocabulary].
template <typename T>
std::vector<T> FeedRow(Decoder<T>& decoder, KvCache& cache, int row, std::span<const int32_t> tokens,
                       const std::vector<int64_t>& counts);
// The same in one step.
template <typename T>
std::vector<T> FeedRow(Decoder<T>& decoder, KvCache& cache, int row, std::span<const int32_t> tokens) {
  return FeedRow<T>(decoder, cache, row, tokens, {static_cast<int64_t>(tokens.size())});
}

// Continues row 0 by the greatest logit, one token a step.
template <typename T>
std::vector<int32_t> Continue(Decoder<T>& decoder, KvCache& cache, std::span<const int32_t> prompt, int count);

template <typename T>
LogitsOut OutTo(T* logits) {
  if constexpr (sizeof(T) == sizeof(float))
    return {.f32 = logits};
  else
    return {.f64 = logits};
}

// The cache type that T's arithmetic reads and writes exactly.
template <typename T>
constexpr DType kOwnType = sizeof(T) == sizeof(float) ? DType::kF32 : DType::kF64;
template <typename T>
DecoderSettings OwnSettings(int threads = 1, std::string_view target = "") {
  return {.threads = threads, .target = target, .dtype_k = kOwnType<T>, .dtype_v = kOwnType<T>};
}

// All keys and values of a row, [layer, position, head, K then V].
std::vector<double> StoredRow(const KvCache& cache, int row);

double WorstDifference(std::span<const double> a, std::span<const double> b);
double WorstDifference(std::span<const float> a, std::span<const double> b);

}  // namespace ekvi::model::testing
