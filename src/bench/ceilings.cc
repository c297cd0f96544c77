// Memory is read with the target's own vectors (kernels::Table::read_peak), since a loop of scalar loads stays behind
// the nearer caches. Stretches are per thread, so that each reads what its own caches hold.
#include "bench/ceilings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "bench/rounds.h"

namespace ekvi::bench {
namespace {

// Larger than the last cache of any machine this runs on but the largest servers, whose share of it a thread then has.
constexpr size_t kMemory = size_t{256} << 20;
constexpr size_t kReadPart = size_t{16} << 20;  // of a round, all threads together
constexpr int64_t kFmaRounds = 100'000, kDotRounds = 100'000;
constexpr size_t kL2Bytes = size_t{384} << 10, kL3Bytes = size_t{4} << 20;  // of each thread

}  // namespace

CeilingProbe::CeilingProbe(kernels::Target target, base::ThreadPool& pool)
    : target_(target), pool_(pool), memory_(kMemory) {
  const size_t part = kMemory / static_cast<size_t>(pool.threads());
  pool.Run([&](int worker) { std::memset(memory_.data() + part * static_cast<size_t>(worker), 1, part); });
  float sink;
  int32_t dot_sink;
  fma_operations_ = static_cast<double>(kernels::TableFor<float>(target).fma_peak(kFmaRounds, &sink)) * pool.threads();
  int8_operations_ =
      static_cast<double>(kernels::BlockTableFor(target).dot_peak(kDotRounds, &dot_sink)) * pool.threads();
}

double CeilingProbe::read_bytes() const { return kReadPart; }

std::function<void()> CeilingProbe::Fma() {
  return [this] {
    pool_.Run([this](int) {
      float sink;
      kernels::TableFor<float>(target_).fma_peak(kFmaRounds, &sink);
    });
  };
}

std::function<void()> CeilingProbe::Int8() {
  return [this] {
    pool_.Run([this](int) {
      int32_t sink;
      kernels::BlockTableFor(target_).dot_peak(kDotRounds, &sink);
    });
  };
}

std::function<void()> CeilingProbe::Read() {
  return [this] {
    constexpr int64_t kPieces = 64;
    pool_.ForEach(kPieces, [this](int64_t piece, int) {
      kernels::TableFor<float>(target_).read_peak(memory_.data() + next_ + piece * (kReadPart / kPieces),
                                                  kReadPart / kPieces);
    });
    next_ = (next_ + kReadPart) % kMemory;
  };
}

void CeilingProbe::ReadAgain(size_t bytes, int times) {
  const size_t part = kMemory / static_cast<size_t>(pool_.threads());
  pool_.Run([&](int worker) {
    const std::byte* from = memory_.data() + part * static_cast<size_t>(worker);
    for (int i = 0; i < times; ++i) kernels::TableFor<float>(target_).read_peak(from, static_cast<int64_t>(bytes));
  });
}

double CeilingProbe::RateOfReading(size_t bytes) {
  const int times = static_cast<int>(std::max<size_t>(1, kReadPart / bytes));
  const std::function<void()> work = [&] { ReadAgain(bytes, times); };
  const Timing timing = InRounds({&work, 1}, {.threads = pool_.threads(), .seconds = 0.1})[0];
  return 1e-9 * static_cast<double>(bytes) * times * pool_.threads() / timing.seconds;
}

BenchCeilings CeilingProbe::MeasureAll() {
  const std::array works{Fma(), Int8(), Read()};
  const auto timings = InRounds(works, {.threads = pool_.threads(), .seconds = 0.5, .rounds_min = 9});
  return {.threads = pool_.threads(),
          .fma_f32_gflops = 1e-9 * fma_operations_ / timings[0].seconds,
          .int8_gops = 1e-9 * int8_operations_ / timings[1].seconds,
          .read_l2_gbps = RateOfReading(kL2Bytes),
          .read_l3_gbps = RateOfReading(kL3Bytes),
          .read_dram_gbps = 1e-9 * read_bytes() / timings[2].seconds};
}

}  // namespace ekvi::bench
