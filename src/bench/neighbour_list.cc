// Decoding beside a busy neighbour.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/fpenv.h"
#include "base/thread_pool.h"
#include "bench/model_run.h"
#include "bench/neighbour.h"
#include "bench/place.h"
#include "bench/rounds.h"
#include "ekvi/bench.h"

namespace ekvi::bench {
namespace {

constexpr int64_t kGenerated = 64;
constexpr double kSeconds = 4;
// Of a round: many slices of a scheduler, which gives each of two processes some milliseconds.
constexpr double kRoundSeconds = 0.2;

double SecondsOf(const std::function<void()>& run) {
  const Work work{run};
  return InRounds({&work, 1}, {.seconds = 0, .rounds_min = 3})[0].seconds;
}

NeighbourMeasurement MeasureBeside(const Model& model, const BenchOptions& options, int threads) {
  Neighbour neighbour;
  NeighbourMeasurement row{
      .threads = threads, .tokens = std::min(kGenerated, model.info().context), .processor = neighbour.processor()};
  ModelRun run(model, {.threads = threads, .tokens = row.tokens, .target = options.target});
  const auto decode = [&] {
    run.Truncate(0);
    run.Decode(row.tokens);
  };
  const double seconds = options.seconds > 0 ? options.seconds : kSeconds;
  const int times = static_cast<int>(std::ceil(std::min(kRoundSeconds, seconds) / SecondsOf(decode)));
  const auto round = [&] {
    for (int i = 0; i < times; ++i) decode();
  };
  const std::array works{Work{round, [&] { neighbour.Pause(); }}, Work{round, [&] { neighbour.Resume(); }}};
  const auto timings = InRounds(works, {.seconds = seconds});
  const double tokens = static_cast<double>(row.tokens) * times;
  row.tok_s_alone = tokens / timings[0].seconds;
  row.tok_s_beside = tokens / timings[1].seconds;
  row.share = row.tok_s_beside / row.tok_s_alone;
  return row;
}

}  // namespace
}  // namespace ekvi::bench

namespace ekvi {

std::vector<NeighbourMeasurement> BenchNeighbour(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                                                 const BenchWatch& watch) {
  bench::RefuseOracle(*model);
  const base::ScopedFpEnv environment;
  BenchOptions all = options;
  if (all.threads.empty()) all.threads = {base::GrantedThreads()};
  const auto counts = bench::ThreadCounts(all);
  std::vector<NeighbourMeasurement> rows;
  for (const int threads : counts) {
    if (watch.on_begin) {
      watch.on_begin("beside a neighbour", static_cast<int64_t>(rows.size()), static_cast<int64_t>(counts.size()));
    }
    rows.push_back(bench::MeasureBeside(*model, options, threads));
    if (watch.on_neighbour) watch.on_neighbour(rows.back());
  }
  return rows;
}

}  // namespace ekvi
