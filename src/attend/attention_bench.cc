// Attention against the limits of the machine, both measured in this run: prefill by multiply-adds, decode by bytes
// read. Every shape's result is checked against the float64 twin before it is timed. Medians of interleaved rounds.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "attend/attention_ref.h"
#include "base/aligned.h"
#include "base/random.h"
#include "base/thread_pool.h"
#include "ekvi/attention.h"
#include "kernels/kernels.h"

namespace ekvi::attend {
namespace {

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// 10^9 operations a second that all threads together reach in registers.
double FmaPeak(base::ThreadPool& pool) {
  const kernels::Table<float>& table = kernels::TableFor<float>(kernels::ParseTarget(""));
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int64_t> operations{0};
    const double begin = Seconds();
    pool.Run([&](int) {
      float sink;
      operations += table.fma_peak(4'000'000, &sink);
    });
    best = std::max(best, static_cast<double>(operations) / (Seconds() - begin) / 1e9);
  }
  return best;
}

// 10^9 bytes a second that all threads together sum up from memory far larger than the caches.
double ReadPeak(base::ThreadPool& pool) {
  constexpr size_t kBytes = 256u << 20;
  base::AlignedBuffer memory(kBytes);
  std::memset(memory.data(), 1, kBytes);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::atomic<uint64_t> total{0};
    const double begin = Seconds();
    pool.Run([&](int worker) {
      const size_t part = kBytes / 8 / static_cast<size_t>(pool.threads());
      const uint64_t* words = memory.as<const uint64_t>() + part * static_cast<size_t>(worker);
      uint64_t sums[8] = {};
      for (size_t i = 0; i + 8 <= part; i += 8) {
        for (size_t j = 0; j < 8; ++j) sums[j] += words[i + j];
      }
      total += sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
    });
    best = std::max(best, static_cast<double>(kBytes) / (Seconds() - begin) / 1e9);
  }
  return best;
}

struct Shape {
  const char* name;
  int q_heads, kv_heads, head_dim;
  int64_t past, count;
  bool paged = true;
};

// A cache that holds `past` tokens and a step of `count` more.
class Subject {
 public:
  Subject(const Shape& shape, DType dtype, int threads)
      : shape_(shape),
        layout_(CacheLayout::Uniform(1, {shape.kv_heads, shape.head_dim, shape.head_dim}, dtype)),
        attention_(layout_, {{.q_heads = shape.q_heads}}, {.threads = threads}) {
    const int64_t total = shape.past + shape.count;
    if (shape.paged)
      cache_ = std::make_unique<PagedCache>(layout_, PagedShape{1, total, 32, BlocksFor(total, 32)});
    else
      cache_ = std::make_unique<ContiguousCache>(layout_, ContiguousShape{1, total});
    base::Random random(1);
    const auto fill = [&](std::vector<float>& values, int64_t count) {
      for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.Unit() * 2 - 1));
    };
    fill(k_, total * KvWidth());
    fill(v_, total * KvWidth());
    fill(q_, shape.count * QWidth());
    out_.resize(q_.size());
    Write(0, shape.past).Commit();
  }

  double Step() {
    Append append = Write(shape_.past, shape_.count);
    const int64_t first[] = {0};
    const double begin = Seconds();
    attention_.Plan(append, first, first);
    attention_.Run(0, HeadArray<const float>{q_.data(), QWidth(), shape_.head_dim},
                   HeadArray<float>{out_.data(), QWidth(), shape_.head_dim});
    return Seconds() - begin;
  }

  // The last token's first and last head against the twin.
  double Error() const {
    const AttentionLayer layer{.q_heads = shape_.q_heads};
    const int64_t token = shape_.count - 1;
    const DType dtype = layout_.dtype_k;
    std::vector<double> k, v, want(static_cast<size_t>(shape_.head_dim));
    for (int64_t pos = 0; pos < shape_.past + shape_.count; ++pos) {
      for (int64_t i = 0; i < KvWidth(); ++i) {
        k.push_back(k_[pos * KvWidth() + i]);
        v.push_back(v_[pos * KvWidth() + i]);
      }
    }
    double worst = 0;
    for (const int head : {0, shape_.q_heads - 1}) {
      const float* q = q_.data() + token * QWidth() + head * shape_.head_dim;
      AttendRef(
          {&layer, layout_.layers[0], head, shape_.past + token, std::vector<double>(q, q + shape_.head_dim), k, v},
          want);
      for (int i = 0; i < shape_.head_dim; ++i) {
        worst = std::max(worst, std::fabs(out_[token * QWidth() + head * shape_.head_dim + i] - want[i]));
      }
    }
    return dtype == DType::kF32 ? worst : worst / 200;  // a 16-bit cache rounds keys and values
  }

  double Flops() const {
    const double keys = static_cast<double>(shape_.count) * static_cast<double>(shape_.past) +
                        static_cast<double>(shape_.count) * static_cast<double>(shape_.count + 1) / 2;
    return 4.0 * shape_.q_heads * shape_.head_dim * keys;
  }
  double Bytes() const {
    return static_cast<double>(shape_.past + shape_.count) * static_cast<double>(BytesPerToken(layout_));
  }

 private:
  int64_t KvWidth() const { return static_cast<int64_t>(shape_.kv_heads) * shape_.head_dim; }
  int64_t QWidth() const { return static_cast<int64_t>(shape_.q_heads) * shape_.head_dim; }
  Append Write(int64_t from, int64_t count) {
    const int64_t counts[] = {count};
    Append append = cache_->BeginAppend(counts);
    append.Write<float>(0, 0,
                        {k_.data() + from * KvWidth(), v_.data() + from * KvWidth(), KvWidth(), shape_.head_dim,
                         KvWidth(), shape_.head_dim});
    return append;
  }

  Shape shape_;
  CacheLayout layout_;
  Attention attention_;
  std::unique_ptr<KvCache> cache_;
  std::vector<float> q_, k_, v_, out_;
};

int Measure(const Shape& shape, DType dtype, int threads) {
  base::ThreadPool pool(threads);
  const double fma = FmaPeak(pool), read = ReadPeak(pool);
  Subject subject(shape, dtype, threads);
  subject.Step();
  const double error = subject.Error();
  if (!(error < 1e-5)) {
    std::printf("%-28s wrong: error %.2e\n", shape.name, error);
    return 1;
  }
  std::vector<double> times;
  for (int round = 0; round < 9; ++round) times.push_back(subject.Step());
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  const double gflops = subject.Flops() / median / 1e9, gbps = subject.Bytes() / median / 1e9;
  std::printf(
      "%-28s %-5s %d thread%s %8.3f ms  %7.1f GFLOP/s (%3.0f %% of %.0f)  %6.1f GB/s (%3.0f %% of %.1f)  spread %.0f "
      "%%\n",
      shape.name, std::string(DTypeName(dtype)).c_str(), threads, threads > 1 ? "s" : " ", median * 1e3, gflops,
      100 * gflops / fma, fma, gbps, 100 * gbps / read, read, 100 * (times.back() / times.front() - 1));
  return 0;
}

}  // namespace
}  // namespace ekvi::attend

// With an argument: only shapes whose name holds it.
int main(int argc, char** argv) {
  using ekvi::DType;
  const ekvi::attend::Shape shapes[] = {
      {"prefill 512 on 4,096, 32/8x128", 32, 8, 128, 4096, 512}, {"prefill 2,048 on 0, 32/8x128", 32, 8, 128, 0, 2048},
      {"prefill 512 contiguous", 32, 8, 128, 4096, 512, false},  {"prefill 512 on 4,096, 9/3x64", 9, 3, 64, 4096, 512},
      {"decode 1 on 16,384, 32/8x128", 32, 8, 128, 16384, 1},    {"decode 1 on 16,384, 8/8x128", 8, 8, 128, 16384, 1},
      {"decode 1 on 16,384, 24/8x128", 24, 8, 128, 16384, 1},    {"decode 1 on 16,384, 56/8x128", 56, 8, 128, 16384, 1},
  };
  int failures = 0;
  for (const auto& shape : shapes) {
    if (argc > 1 && std::string_view(shape.name).find(argv[1]) == std::string_view::npos) continue;
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      for (const int threads : {1, 2}) failures += ekvi::attend::Measure(shape, dtype, threads);
    }
  }
  return failures;
}
