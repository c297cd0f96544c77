// The forward pass of a decoder over a key/value cache, for any configuration (config.h).
//
// The law: the bits of a token's logits, hidden state, keys and values depend on the weights and the tokens before it
// in its row, and on nothing else: not on how a row is cut into steps, on other rows, cache, threads or target.
// Float32 is what runs; float64 is the oracle for parity with other implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "attend/attention_core.h"
#include "base/thread_pool.h"
#include "ekvi/cache.h"
#include "model/decoder_step.h"
#include "model/feed_forward.h"
#include "model/linear.h"
#include "model/weights.h"

namespace ekvi::model {

struct DecoderSettings {
  int threads = 0;                                     // 0: as many as the machine grants this process
  std::string_view target;                             // a name that kernels::ParseTarget knows; empty: the best
  DType dtype_k = DType::kF32, dtype_v = DType::kF32;  // of the caches it will be given: kF64 for double and only there
  int64_t context = 0;  // tokens a row will hold at most, for RopeForContext; 0: the model's
};

// T is float or double. One thread at a time; weights may be shared with other decoders. Owns its threads and scratch:
// a step allocates only where it has more tokens or logits than any before.
template <typename T>
class Decoder {
 public:
  // Errors: kInvalidArgument for cache types the arithmetic cannot read, kUnsupported for a target this machine lacks.
  Decoder(std::shared_ptr<const DecoderWeights<T>> weights, const DecoderSettings& settings);
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  const DecoderConfig& config() const { return weights_->config; }
  const CacheLayout& layout() const { return layout_; }
  int threads() const { return pool_.threads(); }

  // Computes all rows in one step: appended in every layer, committed, logits written. Rows of the cache that are not
  // named stay as they are. Errors leave cache and `out` unchanged: those of CheckStep, and kCapacity of the cache.
  void Step(KvCache& cache, std::span<const StepRow> rows, const LogitsOut& out);

  // The last step's hidden states before the final norm: [tokens of all rows in the order of the step, width].
  std::span<const T> hidden() const { return {x_.data(), static_cast<size_t>(tokens_ * weights_->config.width)}; }

 private:
  // A distinct rotation and its angles at the step's positions.
  struct Rotation {
    RopeConfig rope;
    std::vector<double> frequencies;  // [dims / 2]
    std::vector<T> cos, sin;          // [tokens, dims / 2]
  };

  // Before the pass.
  void FindRotations(int64_t context);
  void LayOut(const KvCache& cache, std::span<const StepRow> rows);
  void Reserve(int64_t logits_rows, const LogitsOut& out);

  // The pass, in its order.
  void Embed();
  void ComputeAngles();
  void Layer(int index, std::span<const StepRow> rows, Append& append);
  void AttentionBlock(int index, std::span<const StepRow> rows, Append& append);
  void Project(int index);
  void NormaliseAndRotate(int index);
  void Store(int index, std::span<const StepRow> rows, Append& append);
  void FeedForwardBlock(int index);
  void Head(std::span<const StepRow> rows, const LogitsOut& out);

  // Its parts.
  const T* Normalised(const std::optional<NormConfig>& norm, const NormWeights<T>& weights);
  void AddOutput(const std::optional<NormConfig>& norm, const NormWeights<T>& weights, std::vector<T>& y, double scale);
  void NormaliseHeads(int index, int64_t token);
  void RotateHeads(int index, int64_t token);
  int64_t GatherLast(std::span<const StepRow> rows);
  void HeadRows(int64_t first, int64_t count, T* out);
  template <typename Out>
  void HeadInBlocks(int64_t count, Out* out);
  template <typename Work>
  void ForTokens(const Work& work);

  std::shared_ptr<const DecoderWeights<T>> weights_;
  CacheLayout layout_;
  base::ThreadPool pool_;
  Workshop<T> workshop_;
  attend::AttentionCore attention_;
  FeedForward<T> feed_forward_;
  std::vector<Rotation> rotations_;
  std::vector<int> rotation_of_;                                             // [layer]; -1: it does not rotate
  int64_t q_stride_ = 0, out_stride_ = 0, kv_width_k_ = 0, kv_width_v_ = 0;  // the widest layer's

  // The step at hand.
  int64_t tokens_ = 0;
  int64_t rows_mapped_ = 0;                              // of the embedding, since it was let go
  std::vector<int32_t> ids_;                             // [tokens]
  std::vector<int64_t> positions_;                       // [tokens]
  std::vector<int64_t> first_;                           // [step rows] index of the row's first token
  std::vector<int64_t> counts_, q_offset_, out_offset_;  // [cache rows]

  // Scratch; the shape behind each. It grows and never shrinks.
  std::vector<T> x_;         // [tokens, width] the hidden state
  std::vector<T> h_;         // [tokens, width] a block's normalised input
  std::vector<T> y_, z_;     // [tokens, width] what attention and feed-forward give
  std::vector<T> q_;         // [tokens, q_stride_]
  std::vector<T> k_, v_;     // [tokens, kv_heads × head size]
  std::vector<T> attended_;  // [tokens, out_stride_]
  std::vector<T> last_;      // [logits rows, width] normalised hidden states that want logits
  std::vector<T> logits_;    // [at most kHeadBlock, vocabulary] where they are wanted in another type
};

}  // namespace ekvi::model
