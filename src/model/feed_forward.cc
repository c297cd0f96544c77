#include "model/feed_forward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/math-inl.h"

namespace ekvi::model {
namespace {

// Values from which on rows are shared among threads: some ten microseconds of work.
constexpr int64_t kShareFrom = int64_t{1} << 15;
constexpr int64_t kRowsPerTask = 8;

template <typename T>
void Grow(std::vector<T>& buffer, int64_t size) {
  if (static_cast<int64_t>(buffer.size()) < size) buffer.resize(size);
}

// NaN ranks last, so that there are always as many different choices as are wanted; its share is NaN all the same.
template <typename T>
T Rank(T score) {
  return std::isnan(score) ? -std::numeric_limits<T>::infinity() : score;
}

// The greatest score that ranks below (score, index) of `last`, -1 meaning above all; of equal ones the lowest index.
template <typename T>
int32_t NextBest(const T* scores, int32_t count, int32_t last) {
  int32_t best = -1;
  for (int32_t i = 0; i < count; ++i) {
    const T score = Rank(scores[i]);
    if (last >= 0 && !(score < Rank(scores[last]) || (score == Rank(scores[last]) && i > last))) continue;
    if (best < 0 || score > Rank(scores[best])) best = i;
  }
  return best;
}

// One token: the experts in the order of their scores, and their shares.
template <typename T>
void Choose(const ExpertsConfig& experts, const T* scores, int32_t* chosen, T* shares) {
  int32_t last = -1;
  T sum = 0;
  for (int rank = 0; rank < experts.used; ++rank) {
    chosen[rank] = last = NextBest(scores, experts.count, last);
    shares[rank] = numeric::Exp(scores[last] - scores[chosen[0]]);
    sum += shares[rank];
  }
  if (experts.weights == RouterWeights::kSoftmaxOfAll) {
    sum = 0;
    for (int i = 0; i < experts.count; ++i) sum += numeric::Exp(scores[i] - scores[chosen[0]]);
  }
  for (int rank = 0; rank < experts.used; ++rank) shares[rank] /= sum;
}

}  // namespace

template <typename T>
FeedForward<T>::FeedForward(const DecoderConfig& config, const Workshop<T>& workshop)
    : width_(config.width), workshop_(workshop) {
  for (const LayerConfig& layer : config.layers) {
    ffn_width_ = std::max(ffn_width_, layer.ffn.width);
    if (layer.ffn.kind != FeedForwardKind::kExperts) continue;
    expert_count_ = std::max<int64_t>(expert_count_, layer.ffn.experts.count);
    used_count_ = std::max<int64_t>(used_count_, layer.ffn.experts.used);
  }
  first_.resize(expert_count_ + 1);
}

template <typename T>
void FeedForward<T>::Reserve(int64_t tokens) {
  Grow(gate_, tokens * ffn_width_);
  Grow(up_, tokens * ffn_width_);
  if (expert_count_ == 0) return;
  Grow(scores_, tokens * expert_count_);
  Grow(chosen_, tokens * used_count_);
  Grow(shares_, tokens * used_count_);
  Grow(row_tokens_, tokens * used_count_);
  Grow(row_shares_, tokens * used_count_);
  Grow(gathered_, tokens * width_);
  Grow(results_, tokens * width_);
}

template <typename T>
void FeedForward<T>::Run(const FeedForwardConfig& config, const LayerWeights<T>& weights, const T* h, int64_t tokens,
                         T* z) {
  if (config.kind == FeedForwardKind::kDense)
    RunDense(config, weights.ffn, h, tokens, z);
  else
    RunExperts(config, weights, h, tokens, z);
}

// work(first, count) for ranges of rows that cover them all, shared among threads where that is worth it.
template <typename T>
template <typename Work>
void FeedForward<T>::ForRows(int64_t rows, int64_t row_values, const Work& work) {
  if (rows * row_values < kShareFrom) return work(0, rows);
  workshop_.pool->ForEach((rows + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task, int) {
    const int64_t first = task * kRowsPerTask;
    work(first, std::min(kRowsPerTask, rows - first));
  });
}

template <typename T>
void FeedForward<T>::RunDense(const FeedForwardConfig& config, const FeedForwardWeights<T>& weights, const T* h,
                              int64_t tokens, T* z) {
  const int64_t ffn = config.width;
  const bool gated = config.gate;
  const LinearRun<T> runs[] = {{&weights.up, h, width_, up_.data(), ffn},
                               {&weights.gate, h, width_, gate_.data(), ffn}};
  RunTogether<T>(std::span(runs, gated ? 2 : 1), tokens, workshop_);
  ForRows(tokens, ffn, [&](int64_t first, int64_t count) {  // up = activation(gate) × up, or activation(up)
    T* const up = &up_[first * ffn];
    workshop_.kernels->activate({.kind = config.activation,
                                 .x = gated ? &gate_[first * ffn] : up,
                                 .up = gated ? up : nullptr,
                                 .out = up,
                                 .count = count * ffn,
                                 .limit = static_cast<T>(config.limit),
                                 .alpha = static_cast<T>(config.alpha)});
  });
  RunAlone<T>({&weights.down, up_.data(), ffn, z, width_}, tokens, workshop_);
}

template <typename T>
void FeedForward<T>::RunExperts(const FeedForwardConfig& config, const LayerWeights<T>& weights, const T* h,
                                int64_t tokens, T* z) {
  const ExpertsConfig& experts = config.experts;
  RunAlone<T>({&weights.router, h, width_, scores_.data(), experts.count}, tokens, workshop_);
  ChooseExperts(experts, tokens);
  SortByExpert(experts, tokens);
  std::fill_n(z, tokens * width_, T(0));
  for (int expert = 0; expert < experts.count; ++expert) {
    const int64_t first = first_[expert], count = first_[expert + 1] - first;
    if (count == 0) continue;
    RunDense(config, weights.experts[expert], Gathered(h, first, count), count, results_.data());
    AddResults(first, count, z);
  }
}

template <typename T>
void FeedForward<T>::ChooseExperts(const ExpertsConfig& experts, int64_t tokens) {
  ForRows(tokens, int64_t{experts.count} * experts.used, [&](int64_t first, int64_t count) {
    for (int64_t t = first; t < first + count; ++t)
      Choose(experts, &scores_[t * experts.count], &chosen_[t * experts.used], &shares_[t * experts.used]);
  });
}

// Counting sort of (token, expert) by expert; tokens of an expert stay in order.
template <typename T>
void FeedForward<T>::SortByExpert(const ExpertsConfig& experts, int64_t tokens) {
  const int64_t choices = tokens * experts.used;
  std::fill(first_.begin(), first_.end(), 0);
  for (int64_t i = 0; i < choices; ++i) ++first_[chosen_[i]];
  int64_t end = 0;
  for (int expert = 0; expert < experts.count; ++expert) {
    end += first_[expert];
    first_[expert] = end;  // the end of its rows; filled from there downwards
  }
  first_[experts.count] = choices;
  for (int64_t i = choices - 1; i >= 0; --i) {
    const int64_t at = --first_[chosen_[i]];
    row_tokens_[at] = static_cast<int32_t>(i / experts.used);
    row_shares_[at] = shares_[i];
  }
}

// An expert's inputs side by side.
template <typename T>
const T* FeedForward<T>::Gathered(const T* h, int64_t first, int64_t count) {
  if (count == 1) return h + row_tokens_[first] * width_;
  ForRows(count, width_, [&](int64_t begin, int64_t rows) {
    for (int64_t row = begin; row < begin + rows; ++row)
      std::copy_n(h + row_tokens_[first + row] * width_, width_, &gathered_[row * width_]);
  });
  return gathered_.data();
}

template <typename T>
void FeedForward<T>::AddResults(int64_t first, int64_t count, T* z) {
  ForRows(count, width_, [&](int64_t begin, int64_t rows) {
    for (int64_t row = begin; row < begin + rows; ++row) {
      workshop_.kernels->add_scaled(z + row_tokens_[first + row] * width_, &results_[row * width_],
                                    row_shares_[first + row], width_);
    }
  });
}

template class FeedForward<float>;
template class FeedForward<double>;

}  // namespace ekvi::model
