#include "bench/attention_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attend/attention_ref.h"
#include "base/random.h"
#include "ekvi/attention.h"
#include "ekvi/cache.h"
#include "ekvi/error.h"

namespace ekvi::bench {
namespace {

constexpr int kBlockTokens = 32;
// Keys and values repeat after so many tokens: random numbers for all would take longer than the measurement.
constexpr int64_t kDistinct = 512;
// Rows begin so far apart in them: a row that reads another's cache has a wrong result.
constexpr int64_t kRowStep = 37;

class AttentionSubject final : public Subject {
 public:
  AttentionSubject(const AttentionShape& shape, DType dtype, const Place& place)
      : shape_(shape),
        layout_(CacheLayout::Uniform(1, {shape.kv_heads, shape.head_dim, shape.head_dim}, dtype)),
        attention_(layout_, {{.q_heads = shape.q_heads}},
                   {.threads = place.pool->threads(), .target = std::string(kernels::TargetName(place.target))}),
        cache_(layout_,
               PagedShape{static_cast<int>(shape.past.size()), Longest() + shape.count, kBlockTokens, Blocks()}) {
    base::Random random(1);
    const auto fill = [&](std::vector<float>& values, int64_t count) {
      for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.Unit() * 2 - 1));
    };
    fill(k_, kDistinct * KvWidth());
    fill(v_, kDistinct * KvWidth());
    for (int64_t i = 0; i < std::max(shape.count, kDistinct) * KvWidth(); ++i) k_.push_back(k_[i]), v_.push_back(v_[i]);
    fill(q_, Rows() * shape.count * QWidth());
    out_.resize(q_.size());
    for (int row = 0; row < Rows(); ++row) Fill(row);
    for (int row = 0; row < Rows(); ++row) first_.push_back(row * shape.count * QWidth());
  }

  void Run() override {
    const std::vector<int64_t> counts(shape_.past.size(), shape_.count);
    Append append = cache_.BeginAppend(counts);
    for (int row = 0; row < Rows(); ++row) Write(append, row, shape_.past[row]);
    attention_.Plan(append, first_, first_);
    attention_.Run(0, HeadArray<const float>{q_.data(), QWidth(), shape_.head_dim},
                   HeadArray<float>{out_.data(), QWidth(), shape_.head_dim});
  }

  // The last token of the first and the last row, its first and its last head, against the direct computation.
  void Check() override {
    Run();
    for (const int row : {0, Rows() - 1}) {
      for (const int head : {0, shape_.q_heads - 1}) CheckHead(row, head);
    }
  }

  double operations() const override {
    double pairs = 0;
    for (const int64_t past : shape_.past) {
      pairs +=
          static_cast<double>(shape_.count) * (static_cast<double>(past) + 0.5 * static_cast<double>(shape_.count + 1));
    }
    return 4.0 * shape_.q_heads * shape_.head_dim * pairs;
  }
  double bytes() const override {
    double tokens = 0;
    for (const int64_t past : shape_.past) tokens += static_cast<double>(past + shape_.count);
    return tokens * static_cast<double>(BytesPerToken(layout_));
  }

 private:
  int Rows() const { return static_cast<int>(shape_.past.size()); }
  int64_t Longest() const { return *std::max_element(shape_.past.begin(), shape_.past.end()); }
  int64_t Blocks() const {
    int64_t blocks = 0;
    for (const int64_t past : shape_.past) blocks += BlocksFor(past + shape_.count, kBlockTokens);
    return blocks;
  }
  int64_t KvWidth() const { return int64_t{shape_.kv_heads} * shape_.head_dim; }
  int64_t QWidth() const { return int64_t{shape_.q_heads} * shape_.head_dim; }

  void Fill(int row) {
    for (int64_t done = 0; done < shape_.past[row];) {
      const int64_t count = std::min(kDistinct, shape_.past[row] - done);
      std::vector<int64_t> counts(shape_.past.size(), 0);
      counts[row] = count;
      Append append = cache_.BeginAppend(counts);
      Write(append, row, done);
      append.Commit();
      done += count;
    }
  }

  // Where the keys and values of a token are.
  int64_t At(int row, int64_t position) const { return (position + row * kRowStep) % kDistinct * KvWidth(); }

  void Write(Append& append, int row, int64_t position) {
    const int64_t from = At(row, position);
    append.Write<float>(0, row,
                        {k_.data() + from, v_.data() + from, KvWidth(), shape_.head_dim, KvWidth(), shape_.head_dim});
  }

  void CheckHead(int row, int head) const {
    const AttentionLayer layer{.q_heads = shape_.q_heads};
    const int64_t position = shape_.past[row] + shape_.count - 1;
    const int64_t at = (row * shape_.count + shape_.count - 1) * QWidth() + int64_t{head} * shape_.head_dim;
    std::vector<double> k, v, want(static_cast<size_t>(shape_.head_dim));
    for (int64_t pos = 0; pos <= position; ++pos) {
      const int64_t from = At(row, pos);
      k.insert(k.end(), k_.begin() + from, k_.begin() + from + KvWidth());
      v.insert(v.end(), v_.begin() + from, v_.begin() + from + KvWidth());
    }
    attend::AttendRef({&layer, layout_.layers[0], head, position,
                       std::vector<double>(q_.begin() + at, q_.begin() + at + shape_.head_dim), k, v},
                      want);
    double worst = 0;
    for (int i = 0; i < shape_.head_dim; ++i) worst = std::max(worst, std::fabs(out_[at + i] - want[i]));
    const double bound = layout_.dtype_k == DType::kF32 ? 1e-5 : layout_.dtype_k == DType::kF16 ? 1e-3 : 1e-2;
    if (worst <= bound) return;
    throw Error(ErrorCode::kCorrupt, "attention gives a wrong result",
                fmt::format("row {}, head {}: off by {:.2e}, at most {:.0e} is right", row, head, worst, bound),
                "do not trust this build: ./dev test");
  }

  AttentionShape shape_;
  CacheLayout layout_;
  Attention attention_;
  PagedCache cache_;
  std::vector<float> k_, v_, q_, out_;
  std::vector<int64_t> first_;
};

}  // namespace

std::unique_ptr<Subject> MakeAttentionSubject(const AttentionShape& shape, DType dtype, const Place& place) {
  return std::make_unique<AttentionSubject>(shape, dtype, place);
}

}  // namespace ekvi::bench
