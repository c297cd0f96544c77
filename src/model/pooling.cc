#include "model/pooling.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "ekvi/error.h"

namespace ekvi::model {

int64_t KeptTokens(std::span<const uint8_t> mask, int64_t tokens, int row) {
  const auto refuse = [&](const char* what, std::string numbers) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("pooling mask of row {}: {}", row, what), std::move(numbers),
                "a 1 for each token, then a 0 for each slot of padding");
  };
  if (static_cast<int64_t>(mask.size()) != tokens) {
    refuse("its length is not the row's", fmt::format("mask {}, tokens {}", mask.size(), tokens));
  }
  const auto padding = std::find(mask.begin(), mask.end(), 0);
  const auto late = std::find_if(padding, mask.end(), [](uint8_t keep) { return keep != 0; });
  if (late != mask.end()) {
    refuse("not right padding",
           fmt::format("token {} is padding, token {} after it is not", padding - mask.begin(), late - mask.begin()));
  }
  if (padding == mask.begin()) refuse("keeps no token", fmt::format("of {}", tokens));
  return padding - mask.begin();
}

template <typename T>
void MeanOfTokens(std::span<const T> hidden, int64_t width, const Workshop<T>& workshop, std::span<T> out) {
  const int64_t kept = static_cast<int64_t>(hidden.size()) / width;
  EKVI_CHECK(kept > 0);
  std::fill(out.begin(), out.end(), T(0));
  for (int64_t t = 0; t < kept; ++t) workshop.kernels->add_scaled(out.data(), &hidden[t * width], T(1), width);
  for (T& value : out) value /= static_cast<T>(kept);
}

template <typename T>
std::vector<T> Classifier<T>::Classes(std::span<const T> hidden, std::span<const uint8_t> mask, int row,
                                      const Workshop<T>& workshop) const {
  const int64_t width = head_.inputs();
  const int64_t kept = KeptTokens(mask, static_cast<int64_t>(hidden.size()) / width, row);
  std::vector<T> mean(width), classes(labels());
  MeanOfTokens<T>(hidden.first(kept * width), width, workshop, mean);
  RunAlone<T>({&head_, mean.data(), width, classes.data(), labels()}, 1, workshop);
  return classes;
}

template void MeanOfTokens<float>(std::span<const float>, int64_t, const Workshop<float>&, std::span<float>);
template void MeanOfTokens<double>(std::span<const double>, int64_t, const Workshop<double>&, std::span<double>);
template class Classifier<float>;
template class Classifier<double>;

}  // namespace ekvi::model
