#include "bench/product_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "ekvi/error.h"
#include "numeric/block_testing.h"

namespace ekvi::bench {
namespace {

using model::Linear;

// What no cache keeps; a matrix that is larger is its own copy.
constexpr size_t kColdBytes = size_t{128} << 20;

class ProductSubject final : public Subject {
 public:
  ProductSubject(const ProductShape& shape, numeric::Format format, model::BlockArithmetic arithmetic,
                 const Place& place)
      : shape_(shape), workshop_(place.target, place.pool) {
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
    } while (copies_.size() * copies_[0].bytes() < kColdBytes);
    for (int64_t i = 0; i < shape.m * shape.k; ++i) x_.push_back(static_cast<float>(random.Normal()));
    out_.resize(static_cast<size_t>(shape.m * shape.n));
  }

  void Run() override { Multiply(copies_[turn_++ % copies_.size()], x_.data(), out_.data(), shape_.m); }

  // The last row, the same bits as alone.
  void Check() override {
    std::vector<float> alone(static_cast<size_t>(shape_.n));
    Multiply(copies_[0], x_.data(), out_.data(), shape_.m);
    Multiply(copies_[0], &x_[static_cast<size_t>((shape_.m - 1) * shape_.k)], alone.data(), 1);
    const auto differs = std::ranges::mismatch(alone, std::span(out_).last(alone.size())).in1;
    if (differs == alone.end()) return;
    throw Error(ErrorCode::kCorrupt, "a product of several rows has other bits than one row",
                fmt::format("m {}, output {}", shape_.m, differs - alone.begin()),
                "do not trust this build: ./dev test");
  }

  double operations() const override { return 2.0 * static_cast<double>(shape_.m * shape_.n * shape_.k); }
  double bytes() const override { return static_cast<double>(copies_[0].bytes()); }

 private:
  void Multiply(const Linear<float>& linear, const float* from, float* to, int64_t rows) {
    model::RunAlone<float>({&linear, from, shape_.k, to, shape_.n}, rows, workshop_);
  }

  ProductShape shape_;
  model::Workshop<float> workshop_;
  base::Arena arena_;
  std::vector<Linear<float>> copies_;
  std::vector<float> x_, out_;
  size_t turn_ = 0;
};

}  // namespace

std::unique_ptr<Subject> MakeProductSubject(const ProductShape& shape, numeric::Format format,
                                            model::BlockArithmetic arithmetic, const Place& place) {
  return std::make_unique<ProductSubject>(shape, format, arithmetic, place);
}

}  // namespace ekvi::bench
