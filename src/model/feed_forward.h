// The feed-forward block of a layer, dense or a mixture of experts, for all tokens of a step at once.
//
// The law holds for mixtures too: a token's choice looks at its own scores alone, each expert's product is computed row
// by row, and a token's results are added in the order of the experts' indices. So gathering the tokens of a step by
// expert, which reads each expert's weights once, changes no bit.
#pragma once

#include <cstdint>
#include <vector>

#include "model/config.h"
#include "model/linear.h"
#include "model/weights.h"

namespace ekvi::model {

// T is float or double. Owns its scratch, which grows and never shrinks; the workshop outlives it.
template <typename T>
class FeedForward {
 public:
  FeedForward(const DecoderConfig& config, const Workshop<T>& workshop);

  // Of the widest layer.
  int64_t width() const { return ffn_width_; }

  // Before Run: room for so many tokens. Allocates only past the largest count so far.
  void Reserve(int64_t tokens);
  // z[tokens, width] = the block's result for h[tokens, width].
  void Run(const FeedForwardConfig& config, const LayerWeights<T>& weights, const T* h, int64_t tokens, T* z);

 private:
  void RunDense(const FeedForwardConfig& config, const FeedForwardWeights<T>& weights, const T* h, int64_t tokens,
                T* z);
  void RunExperts(const FeedForwardConfig& config, const LayerWeights<T>& weights, const T* h, int64_t tokens, T* z);
  void ChooseExperts(const ExpertsConfig& experts, int64_t tokens);
  void SortByExpert(const ExpertsConfig& experts, int64_t tokens);
  const T* Gathered(const T* h, int64_t first, int64_t count);
  void AddResults(int64_t first, int64_t count, T* z);
  template <typename Work>
  void ForRows(int64_t rows, int64_t row_values, const Work& work);

  int64_t width_ = 0, ffn_width_ = 0;          // of the hidden state; the widest layer's
  int64_t expert_count_ = 0, used_count_ = 0;  // the most of any layer; 0: there are no mixtures
  const Workshop<T>& workshop_;

  std::vector<T> gate_, up_;           // [tokens, ffn width]
  std::vector<T> scores_;              // [tokens, experts] the router's
  std::vector<int32_t> chosen_;        // [tokens, used] experts, best first
  std::vector<T> shares_;              // [tokens, used] their weights
  std::vector<int64_t> first_;         // [experts + 1] where an expert's rows begin in the two below
  std::vector<int32_t> row_tokens_;    // [tokens × used] by expert, then by token
  std::vector<T> row_shares_;          // likewise
  std::vector<T> gathered_, results_;  // [tokens, width] one expert's rows
};

}  // namespace ekvi::model
