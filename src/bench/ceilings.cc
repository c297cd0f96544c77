// Memory is read with the target's own vectors (kernels::Table::read_peak), since a loop of scalar loads stays behind
// the nearer caches. Stretches are per thread, so that each reads what its own caches hold.
#include "bench/ceilings.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "bench/rounds.h"

namespace ekvi::bench {
namespace {

// Larger than the last cache of any machine this runs on but the largest servers, whose share of it a thread then has.
constexpr size_t kMemory = size_t{256} << 20;
constexpr size_t kReadPart = size_t{16} << 20;  // of a round, all threads together
constexpr int64_t kFmaRounds = 100'000, kDotRounds = 100'000;
constexpr size_t kL2Bytes = size_t{384} << 10, kL3Bytes = size_t{4} << 20;  // of each thread, where its part has them
constexpr double kSeconds = 0.5;
constexpr int kRoundsMin = 9;

// Each thread's own part of the memory, in whole pages.
size_t PartOf(int threads) { return kMemory / static_cast<size_t>(threads) / 4096 * 4096; }

int TimesOf(size_t bytes) { return static_cast<int>(std::max<size_t>(1, kReadPart / bytes)); }

}  // namespace

CeilingProbe::CeilingProbe(kernels::Target target, base::ThreadPool& pool)
    : target_(target), pool_(pool), memory_(kMemory) {
  const size_t part = PartOf(pool.threads());
  std::memset(memory_.data() + part * static_cast<size_t>(pool.threads()), 1,
              kMemory - part * static_cast<size_t>(pool.threads()));
  pool.Run([&](int worker) { std::memset(memory_.data() + part * static_cast<size_t>(worker), 1, part); });
  float sink;
  int32_t dot_sink;
  fma_operations_ = static_cast<double>(kernels::TableFor<float>(target).fma_peak(kFmaRounds, &sink)) * pool.threads();
  int8_operations_ =
      static_cast<double>(kernels::BlockTableFor(target).dot_peak(kDotRounds, &dot_sink)) * pool.threads();
}

double CeilingProbe::read_bytes() const { return kReadPart; }

Work CeilingProbe::Fma() {
  return {[this] {
    pool_.Run([this](int) {
      float sink;
      kernels::TableFor<float>(target_).fma_peak(kFmaRounds, &sink);
    });
  }};
}

Work CeilingProbe::Int8() {
  return {[this] {
    pool_.Run([this](int) {
      int32_t sink;
      kernels::BlockTableFor(target_).dot_peak(kDotRounds, &sink);
    });
  }};
}

Work CeilingProbe::Read() {
  return {[this] {
    constexpr int64_t kPieces = 64;
    pool_.ForEach(kPieces, [this](int64_t piece, int) {
      kernels::TableFor<float>(target_).read_peak(memory_.data() + next_ + piece * (kReadPart / kPieces),
                                                  kReadPart / kPieces);
    });
    next_ = (next_ + kReadPart) % kMemory;
  }};
}

void CeilingProbe::ReadTimes(size_t bytes, int times) {
  const size_t part = PartOf(pool_.threads());
  pool_.Run([&](int worker) {
    const std::byte* from = memory_.data() + part * static_cast<size_t>(worker);
    for (int i = 0; i < times; ++i) kernels::TableFor<float>(target_).read_peak(from, static_cast<int64_t>(bytes));
  });
}

Work CeilingProbe::ReadAgain(size_t bytes) {
  return {[this, bytes] { ReadTimes(bytes, TimesOf(bytes)); }, [this, bytes] { ReadTimes(bytes, 1); }};
}

BenchCeilings CeilingProbe::MeasureAll(double seconds) {
  const size_t l2 = std::min(kL2Bytes, PartOf(pool_.threads())), l3 = std::min(kL3Bytes, PartOf(pool_.threads()));
  const std::array works{Fma(), Int8(), ReadAgain(l2), ReadAgain(l3), Read()};
  const auto timings = InRounds(works, {.stopwatch = StopwatchFor(pool_.threads()),
                                        .seconds = seconds > 0 ? seconds : kSeconds,
                                        .rounds_min = kRoundsMin});
  const auto again = [&](size_t bytes, const Timing& timing) {
    return 1e-9 * static_cast<double>(bytes) * TimesOf(bytes) * pool_.threads() / timing.seconds;
  };
  return {.threads = pool_.threads(),
          .target = std::string(kernels::TargetName(target_)),
          .fma_f32_gflops = 1e-9 * fma_operations_ / timings[0].seconds,
          .int8_gops = 1e-9 * int8_operations_ / timings[1].seconds,
          .read_l2_gbps = again(l2, timings[2]),
          .read_l3_gbps = again(l3, timings[3]),
          .read_dram_gbps = 1e-9 * read_bytes() / timings[4].seconds};
}

CeilingProbe::Timed CeilingProbe::Measure(const std::function<void()>& run, const Effort& effort, double seconds) {
  const std::array works{Work{run}, effort.int8 ? Int8() : Fma(), Read()};
  const auto timings = InRounds(works, {.stopwatch = StopwatchFor(pool_.threads()), .seconds = seconds});
  const double round = effort.int8 ? int8_operations_ : fma_operations_;
  const double computing = effort.operations / round * timings[1].seconds;
  const double reading = effort.bytes / read_bytes() * timings[2].seconds;
  return {timings[0],
          {std::max(computing, reading) / timings[0].seconds, reading > computing ? "read"
                                                              : effort.int8       ? "int8"
                                                                                  : "fma"}};
}

}  // namespace ekvi::bench
