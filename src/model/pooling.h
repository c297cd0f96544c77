// Classes of texts from hidden states: averaged over a text's tokens, then one linear layer.
//
// Rows may be padded on the right, as batches elsewhere are; a mask says which tokens are real. Padding on the left or
// within, and rows without any token, have no defined average and are refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "model/linear.h"

namespace ekvi::model {

// Tokens that a mask of 1 (real) and 0 (padding) keeps: the first n of `tokens`. Errors (kInvalidArgument), naming row
// and numbers: a mask of another length than the row, one that keeps nothing, one that is not right padding.
int64_t KeptTokens(std::span<const uint8_t> mask, int64_t tokens, int row);

// out[width] = the mean of hidden[kept, width] over its rows, summed in order. kept > 0.
template <typename T>
void MeanOfTokens(std::span<const T> hidden, int64_t width, const Workshop<T>& workshop, std::span<T> out);

// classes[labels] = mean · head + bias.
template <typename T>
class Classifier {
 public:
  // `head` is [width → labels]; bias has one value a label. Errors as Linear.
  Classifier(const MatrixView& head, std::vector<T> bias, base::ThreadPool& pool)
      : head_(head, std::move(bias), pool) {}

  int64_t labels() const { return head_.outputs(); }
  // Of the row with hidden states hidden[mask.size(), width], before the final norm. Errors as KeptTokens.
  std::vector<T> Classes(std::span<const T> hidden, std::span<const uint8_t> mask, int row,
                         const Workshop<T>& workshop) const;

 private:
  Linear<T> head_;
};

}  // namespace ekvi::model
