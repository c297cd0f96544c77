#include "bench/product_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "ekvi/error.h"
#include "numeric/block_testing.h"

namespace ekvi::bench {
namespace {

using model::Linear;

// Largest error of a result, as a share of |w| · rms(x), which is its usual size. Rounding an activation to 8 bits is
// an error of up to 1/254 of the largest of its block, 3.5 rms at most as a rule, uniform: 0.008 for the sum. Tenfold.
constexpr double kBoundInt8 = 0.08, kBoundFloat = 1e-4;

class ProductSubject final : public Subject {
 public:
  ProductSubject(const ProductShape& shape, numeric::Format format, model::BlockArithmetic arithmetic,
                 const Place& place, size_t cold_bytes)
      : shape_(shape),
        bound_(arithmetic == model::BlockArithmetic::kInt8 ? kBoundInt8 : kBoundFloat),
        workshop_(place.target, place.pool) {
    base::Random random(1);
    // A few rows, repeated: random numbers take longer than all measurements.
    const int64_t distinct = std::min<int64_t>(shape.n, 64);
    numeric::RandomValues values(format, static_cast<size_t>(distinct * shape.k), random);
    std::vector<int32_t> order(static_cast<size_t>(shape.n));
    for (int64_t n = 0; n < shape.n; ++n) order[static_cast<size_t>(n)] = static_cast<int32_t>(n % distinct);
    const model::MatrixView view{.name = "w",
                                 .format = format,
                                 .data = values.data(),
                                 .stored_outputs = distinct,
                                 .outputs = shape.n,
                                 .inputs = shape.k,
                                 .output_order = order};
    do {
      copies_.emplace_back(view, std::vector<float>(), *place.pool, arithmetic, &arena_);
    } while (copies_.size() * copies_[0].bytes() < cold_bytes);
    for (const int64_t output : Checked()) {
      const size_t row_bytes = numeric::FormatBytes(format, static_cast<size_t>(shape.k));
      std::vector<double>& row = rows_.emplace_back(static_cast<size_t>(shape.k));
      numeric::Decode(format, values.data() + static_cast<size_t>(output % distinct) * row_bytes, row.data(),
                      row.size());
    }
    for (int64_t i = 0; i < shape.m * shape.k; ++i) x_.push_back(static_cast<float>(random.Normal()));
    out_.resize(static_cast<size_t>(shape.m * shape.n));
  }

  void Run() override { Multiply(copies_[turn_++ % copies_.size()], x_.data(), out_.data(), shape_.m); }

  // The last row: some outputs against sums in float64, all of them the same bits as alone.
  void Check() override {
    std::vector<float> alone(static_cast<size_t>(shape_.n));
    const float* x = &x_[static_cast<size_t>((shape_.m - 1) * shape_.k)];
    Multiply(copies_[0], x_.data(), out_.data(), shape_.m);
    Multiply(copies_[0], x, alone.data(), 1);
    for (size_t i = 0; i < rows_.size(); ++i) CheckOutput(Checked()[i], rows_[i], x);
    const auto differs = std::ranges::mismatch(alone, std::span(out_).last(alone.size())).in1;
    if (differs == alone.end()) return;
    throw Error(ErrorCode::kCorrupt, "a product of several rows has other bits than one row",
                fmt::format("m {}, output {}", shape_.m, differs - alone.begin()),
                "do not trust this build: ./dev test");
  }

  double operations() const override { return 2.0 * static_cast<double>(shape_.m * shape_.n * shape_.k); }
  double bytes() const override { return static_cast<double>(copies_[0].bytes()); }

 private:
  std::array<int64_t, 3> Checked() const { return {0, shape_.n / 2, shape_.n - 1}; }

  void CheckOutput(int64_t output, const std::vector<double>& weights, const float* x) const {
    double want = 0, weights_squared = 0, x_squared = 0;
    for (size_t i = 0; i < weights.size(); ++i) {
      want += weights[i] * x[i];
      weights_squared += weights[i] * weights[i];
      x_squared += static_cast<double>(x[i]) * x[i];
    }
    const double bound = bound_ * std::sqrt(weights_squared * x_squared / static_cast<double>(shape_.k));
    const double got = out_[static_cast<size_t>((shape_.m - 1) * shape_.n + output)];
    if (std::fabs(got - want) <= bound) return;
    throw Error(ErrorCode::kCorrupt, "a product gives a wrong result",
                fmt::format("output {} is {:.7g}, {:.7g} is right, give or take {:.1e}", output, got, want, bound),
                "do not trust this build: ./dev test");
  }

  void Multiply(const Linear<float>& linear, const float* from, float* to, int64_t rows) {
    model::RunAlone<float>({&linear, from, shape_.k, to, shape_.n}, rows, workshop_);
  }

  ProductShape shape_;
  double bound_;
  model::Workshop<float> workshop_;
  base::Arena arena_;
  std::vector<Linear<float>> copies_;
  std::vector<std::vector<double>> rows_;  // decoded, of the outputs that are checked
  std::vector<float> x_, out_;
  size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Subject> MakeProductSubject(const ProductShape& shape, numeric::Format format,
                                            model::BlockArithmetic arithmetic, const Place& place, size_t cold_bytes) {
  return std::make_unique<ProductSubject>(shape, format, arithmetic, place, cold_bytes);
}

}  // namespace ekvi::bench
