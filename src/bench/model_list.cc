// A whole model, step by step: prompts at once, tokens one by one at a depth, several sequences together.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/model_impl.h"
#include "base/fpenv.h"
#include "bench/ceilings.h"
#include "bench/model_run.h"
#include "bench/place.h"
#include "ekvi/bench.h"
#include "kernels/kernels.h"

namespace ekvi::bench {
namespace {

constexpr int64_t kPrompt = 512, kGenerated = 64, kDepth = 4096, kBatchTokens = 16;
constexpr int kBatch = 8;
constexpr double kSeconds = 1;  // of a row and its ceilings

// What the model has room for, with nothing measured in it.
std::vector<ModelMeasurement> Rows(int64_t context) {
  const int64_t generated = std::min(kGenerated, context);
  std::vector<ModelMeasurement> rows{{.suite = "prefill", .tokens = std::min(kPrompt, context)},
                                     {.suite = "decode", .tokens = generated}};
  if (context >= kDepth + generated) rows.push_back({.suite = "decode", .tokens = generated, .depth = kDepth});
  for (const int sequences : {1, kBatch}) {
    rows.push_back({.suite = "batch", .tokens = std::min(kBatchTokens, context), .sequences = sequences});
  }
  return rows;
}

std::string NameOf(const ModelMeasurement& row, int threads) {
  return fmt::format("{} of {} tokens at {}, {} threads", row.suite, row.tokens, row.depth, threads);
}

class ModelBench {
 public:
  ModelBench(const Model& model, const BenchOptions& options, int threads)
      : model_(model),
        options_(options),
        pool_(threads),
        probe_(kernels::ParseTarget(options.target), pool_),
        weights_(model.impl().loaded.per_token()) {}

  // The row with its figures.
  ModelMeasurement Measured(ModelMeasurement row) {
    return row.suite == "prefill" ? Prefill(std::move(row)) : Decode(std::move(row));
  }

 private:
  ModelMeasurement Prefill(ModelMeasurement row) {
    ModelRun run(model_, {.threads = pool_.threads(), .tokens = row.tokens, .target = options_.target});
    const auto work = [&] {
      run.Truncate(0);
      run.GoOn(row.tokens);
    };
    const auto count = static_cast<double>(row.tokens);
    return Filled(row, work,
                  {.operations = weights_.operations * count + weights_.head_operations,
                   .bytes = weights_.bytes + weights_.head_bytes + run.bytes_per_token() * count});
  }

  // `tokens` one by one from `depth` on, of each of the sequences.
  ModelMeasurement Decode(ModelMeasurement row) {
    ModelRun run(model_, {.threads = pool_.threads(),
                          .sequences = static_cast<int>(row.sequences),
                          .tokens = row.depth + row.tokens,
                          .target = options_.target});
    run.Fill(row.depth);
    const auto work = [&] {
      run.Truncate(row.depth);
      run.Decode(row.tokens);
    };
    const auto steps = static_cast<double>(row.tokens), sequences = static_cast<double>(row.sequences);
    const double cached = static_cast<double>(row.depth) + steps / 2;
    return Filled(
        row, work,
        {.operations = (weights_.operations + weights_.head_operations) * steps * sequences,
         .bytes = steps * (weights_.bytes + weights_.head_bytes + sequences * cached * run.bytes_per_token())});
  }

  ModelMeasurement Filled(ModelMeasurement row, const std::function<void()>& run, Effort effort) {
    effort.int8 = model_.info().compute == "int8";
    const double seconds = probe_.Measure(run, effort, options_.seconds > 0 ? options_.seconds : kSeconds, row);
    row.threads = pool_.threads();
    row.tok_s = static_cast<double>(row.tokens * row.sequences) / seconds;
    return row;
  }

  const Model& model_;
  const BenchOptions& options_;
  base::ThreadPool pool_;
  CeilingProbe probe_;
  model::TokenCost weights_;
};

}  // namespace
}  // namespace ekvi::bench

namespace ekvi {

ModelReport BenchModel(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                       const BenchWatch& watch) {
  bench::RefuseOracle(*model);
  const base::ScopedFpEnv environment;
  ModelReport report{.ceilings = bench::MeasureCeilings(options, watch)};
  const auto rows = bench::Rows(model->info().context);
  const auto threads = bench::ThreadCounts(options);
  const auto total = static_cast<int64_t>(rows.size() * threads.size());
  for (const int count : threads) {
    bench::ModelBench bench(*model, options, count);
    for (const ModelMeasurement& row : rows) {
      if (watch.on_begin) watch.on_begin(bench::NameOf(row, count), static_cast<int64_t>(report.rows.size()), total);
      report.rows.push_back(bench.Measured(row));
      if (watch.on_model) watch.on_model(report.rows.back());
    }
  }
  return report;
}

}  // namespace ekvi
