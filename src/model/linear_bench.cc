// Measures products at shapes of real models, in every format and both arithmetics, beside the limits measured in the
// same run: multiply-adds and dot products of bytes in registers, and a plain read of memory. Results are checked
// against one row at a time first. Weights are cold where a model's would be: copies of a matrix are used in turn.
//
//   linear_bench [THREADS [TARGET [FORMAT]]]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "model/linear.h"
#include "numeric/block_testing.h"

namespace ekvi::model {
namespace {

using Clock = std::chrono::steady_clock;
using numeric::Format;

// What no cache keeps.
constexpr size_t kColdBytes = size_t{384} << 20;

// Of one thread its own time, which neighbours on the machine do not lengthen; of several what the clock says.
double Now(int threads) {
  timespec now;
  ::clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of the median of several calls, at least 0.15 s of them.
template <typename Work>
double MedianSeconds(int threads, const Work& work) {
  std::vector<double> seconds;
  const auto end = Clock::now() + std::chrono::milliseconds(150);
  do {
    const double begin = Now(threads);
    work();
    seconds.push_back(Now(threads) - begin);
  } while (Clock::now() < end || seconds.size() < 3);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<int64_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

struct Limits {
  double fma_gflops, dot_gops, read_gbps;
};

Limits Measured(const Workshop<float>& workshop) {
  const int threads = workshop.pool->threads();
  std::vector<float> sinks(threads);
  std::vector<int32_t> int_sinks(threads);
  int64_t flops = 0, ops = 0;
  Limits limits;
  limits.fma_gflops = 1e-9 / MedianSeconds(threads, [&] {
                        workshop.pool->ForEach(threads, [&](int64_t i, int) {
                          const int64_t done = workshop.kernels->fma_peak(200000, &sinks[i]);
                          if (i == 0) flops = done;
                        });
                      });
  limits.fma_gflops *= static_cast<double>(flops) * threads;
  limits.dot_gops = 1e-9 / MedianSeconds(threads, [&] {
                      workshop.pool->ForEach(threads, [&](int64_t i, int) {
                        const int64_t done = workshop.blocks->dot_peak(200000, &int_sinks[i]);
                        if (i == 0) ops = done;
                      });
                    });
  limits.dot_gops *= static_cast<double>(ops) * threads;
  base::AlignedBuffer buffer(kColdBytes);
  std::memset(buffer.data(), 1, kColdBytes);
  std::vector<const void*> found(64);
  const double seconds = MedianSeconds(threads, [&] {
    workshop.pool->ForEach(64, [&](int64_t part, int) {
      found[part] = std::memchr(buffer.data() + part * (kColdBytes / 64), 2, kColdBytes / 64);
    });
  });
  limits.read_gbps = 1e-9 * kColdBytes / seconds;
  return limits;
}

struct Shape {
  int64_t outputs, inputs;
};

Linear<float> RandomLinear(Format format, Shape shape, BlockArithmetic arithmetic, base::ThreadPool& pool) {
  base::Random random(1);
  // A few rows, repeated: random numbers take longer than all measurements.
  const int64_t distinct = std::min<int64_t>(shape.outputs, 64);
  const numeric::RandomValues values(format, static_cast<size_t>(distinct * shape.inputs), random);
  std::vector<int32_t> order(shape.outputs);
  for (int64_t n = 0; n < shape.outputs; ++n) order[n] = static_cast<int32_t>(n % distinct);
  return Linear<float>({.name = "w",
                        .format = format,
                        .data = values.data(),
                        .stored_outputs = distinct,
                        .outputs = shape.outputs,
                        .inputs = shape.inputs,
                        .output_order = order},
                       {}, pool, arithmetic);
}

void Measure(Format format, Shape shape, BlockArithmetic arithmetic, const Workshop<float>& workshop,
             const Limits& limits) {
  std::vector<Linear<float>> copies;
  do {
    copies.push_back(RandomLinear(format, shape, arithmetic, *workshop.pool));
  } while (copies.size() * copies[0].bytes() < kColdBytes);
  const bool int8 = copies[0].int8();
  size_t turn = 0;
  for (const int64_t m : {1, 8, 512}) {
    base::Random random(3);
    std::vector<float> x(m * shape.inputs), out(m * shape.outputs), row(shape.outputs);
    for (float& value : x) value = static_cast<float>(random.Normal());
    const auto run = [&](const Linear<float>& linear, const float* from, float* to, int64_t rows) {
      RunAlone<float>({&linear, from, shape.inputs, to, shape.outputs}, rows, workshop);
    };
    run(copies[0], x.data(), out.data(), m);
    run(copies[0], &x[(m - 1) * shape.inputs], row.data(), 1);
    const bool same = std::equal(row.begin(), row.end(), out.end() - shape.outputs);
    const double seconds =
        MedianSeconds(workshop.pool->threads(), [&] { run(copies[turn++ % copies.size()], x.data(), out.data(), m); });
    const double gops = 2e-9 * static_cast<double>(m * shape.outputs * shape.inputs) / seconds;
    const double gbps = 1e-9 * static_cast<double>(copies[0].bytes()) / seconds;
    fmt::print(
        "{:6} {:4} {:5} x {:5} rows {:3}: {:9.1f} us {:7.1f} Gop/s, {:4.2f} x FMA peak, {:3.0f} % of {} peak; "
        "{:5.1f} GB/s, {:3.0f} % of a read {}\n",
        numeric::FormatName(format), int8 ? "int8" : "f32", shape.outputs, shape.inputs, m, seconds * 1e6, gops,
        gops / limits.fma_gflops, 100 * gops / (int8 ? limits.dot_gops : limits.fma_gflops), int8 ? "dot" : "FMA", gbps,
        100 * gbps / limits.read_gbps, same ? "" : "WRONG BITS");
  }
}

}  // namespace
}  // namespace ekvi::model

int main(int argc, char** argv) {
  using namespace ekvi;
  base::ThreadPool pool(argc > 1 ? std::atoi(argv[1]) : base::GrantedThreads());
  const model::Workshop<float> workshop(kernels::ParseTarget(argc > 2 ? argv[2] : ""), &pool);
  const std::string only = argc > 3 ? argv[3] : "";
  const model::Limits limits = model::Measured(workshop);
  fmt::print("{} threads, {}: FMA {:.0f} GFLOP/s, dot {:.0f} Gop/s, read {:.1f} GB/s\n", pool.threads(),
             kernels::TargetName(workshop.target), limits.fma_gflops, limits.dot_gops, limits.read_gbps);
  for (int i = 1; i < numeric::kFormatCount; ++i) {
    const auto format = static_cast<numeric::Format>(i);
    if (!only.empty() && numeric::FormatName(format) != only) continue;
    const model::Shape shape{2048, 2048};
    if (numeric::IsBlocks(format)) model::Measure(format, shape, model::BlockArithmetic::kInt8, workshop, limits);
    model::Measure(format, shape, model::BlockArithmetic::kFloat, workshop, limits);
  }
}
