// Measures the packed product at shapes of real models: GFLOP/s for many rows, GB/s of weights for one, beside the
// rate that the same kernel reaches on operands in the nearest cache. The result is checked against one row at a time
// first.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "model/linear.h"
#include "numeric/convert.h"

namespace ekvi::model {
namespace {

using Clock = std::chrono::steady_clock;

// Seconds of the best of several calls, at least 0.2 s of them.
template <typename Work>
double BestSeconds(const Work& work) {
  double best = 1e9;
  const auto end = Clock::now() + std::chrono::milliseconds(200);
  do {
    const auto begin = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  } while (Clock::now() < end);
  return best;
}

std::vector<float> RandomRows(int64_t count, uint64_t seed) {
  base::Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Unit() - 0.5);
  return values;
}

Linear<float> RandomLinear(int64_t outputs, int64_t inputs, DType dtype, base::ThreadPool& pool) {
  const std::vector<float> values = RandomRows(outputs * inputs, 1);
  std::vector<std::byte> stored(DTypeBytes(dtype, values.size()));
  if (dtype == DType::kQ8_0) {
    const numeric::F16 scale = numeric::ToF16(0.01f);
    for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<std::byte>(i * 37);
    for (size_t i = 0; i < stored.size(); i += numeric::kQ8BlockBytes) std::memcpy(&stored[i], &scale, sizeof(scale));
  } else {
    numeric::Narrow(dtype, values.data(), stored.data(), values.size());
  }
  return Linear<float>({.name = "w",
                        .dtype = dtype,
                        .data = stored.data(),
                        .stored_outputs = outputs,
                        .outputs = outputs,
                        .inputs = inputs},
                       {}, pool);
}

// The kernel's own rate: 8 rows, 2 panels, 128 inputs, all in the nearest cache.
double NearestCacheGflops(const Workshop<float>& workshop, base::ThreadPool& one) {
  const Linear<float> linear = RandomLinear(32, 128, DType::kF32, one);
  const std::vector<float> x = RandomRows(8 * 128, 2);
  std::vector<float> out(8 * 32);
  const double seconds = BestSeconds([&] {
    for (int i = 0; i < 1000; ++i) {
      linear.RunPart({x.data(), 128, out.data(), 32, 0, 8, 0, 2}, *workshop.kernels);
    }
  });
  return 2e-9 * 8 * 32 * 128 * 1000 / seconds;
}

void Measure(DType dtype, int64_t outputs, int64_t inputs, const Workshop<float>& workshop, double peak) {
  const Linear<float> linear = RandomLinear(outputs, inputs, dtype, *workshop.pool);
  for (const int64_t m : {1, 4, 16, 64, 512}) {
    const std::vector<float> x = RandomRows(m * inputs, 3);
    std::vector<float> out(m * outputs), row(outputs);
    const LinearRun<float> run{&linear, x.data(), inputs, out.data(), outputs};
    const double seconds = BestSeconds([&] { RunAlone(run, m, workshop); });
    RunAlone<float>({&linear, x.data() + (m - 1) * inputs, inputs, row.data(), outputs}, 1, workshop);
    const bool same = std::equal(row.begin(), row.end(), out.end() - outputs);
    const double gflops = 2e-9 * static_cast<double>(m * outputs * inputs) / seconds;
    fmt::print("{:5} {:6} x {:5} rows {:4}: {:8.1f} us {:7.1f} GFLOP/s ({:3.0f} % of nearest cache) {:6.1f} GB/s {}\n",
               DTypeName(dtype), outputs, inputs, m, seconds * 1e6, gflops, 100 * gflops / peak,
               1e-9 * static_cast<double>(linear.bytes()) / seconds, same ? "" : "WRONG BITS");
  }
}

}  // namespace
}  // namespace ekvi::model

int main(int argc, char** argv) {
  using namespace ekvi;
  base::ThreadPool one(1), pool(argc > 1 ? std::atoi(argv[1]) : base::GrantedThreads());
  const model::Workshop<float> workshop(kernels::ParseTarget(argc > 2 ? argv[2] : ""), &pool);
  const double peak = model::NearestCacheGflops(workshop, one) * pool.threads();
  fmt::print("{} threads, {}: {:.1f} GFLOP/s in the nearest cache\n", pool.threads(),
             kernels::TargetName(workshop.target), peak);
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kQ8_0}) {
    model::Measure(dtype, 1536, 576, workshop, peak);
    model::Measure(dtype, 576, 1536, workshop, peak);
  }
  model::Measure(DType::kF32, 64, 64, workshop, peak);
  model::Measure(DType::kF16, 49152, 576, workshop, peak);
}
