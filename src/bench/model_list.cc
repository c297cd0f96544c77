// A whole model, step by step: prompts at once, tokens one by one at a depth, several sequences together.
#include <algorithm>
#include <array>
#include <vector>

#include "api/model_impl.h"
#include "api/session_parts.h"
#include "base/fpenv.h"
#include "bench/ceilings.h"
#include "bench/place.h"
#include "bench/rounds.h"
#include "ekvi/bench.h"
#include "ekvi/cache.h"
#include "kernels/kernels.h"

namespace ekvi::bench {
namespace {

constexpr int64_t kPrompt = 512, kGenerated = 64, kDepth = 4096, kBatchTokens = 16;
constexpr int kBatch = 8;

// What is computed for a token, and read for a step: weights once, and each sequence's cache.
struct Work {
  double operations = 0, bytes = 0;
};

class ModelRun {
 public:
  ModelRun(const Model& model, const BenchOptions& options, int threads, int sequences, int64_t tokens)
      : model_(model) {
    SessionOptions wanted{.context = tokens, .sequences = sequences, .threads = threads, .target = options.target};
    wanted = api::Resolve(model, wanted);
    cache_ = api::MakeCache(model, wanted);
    steps_ = api::MakeSteps(model, wanted);
    logits_.resize(static_cast<size_t>(sequences) * static_cast<size_t>(model.info().vocabulary));
  }

  // `count` tokens of every sequence in one step; logits of each one's last token.
  void Step(int64_t count) {
    tokens_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i)
      tokens_[static_cast<size_t>(i)] = static_cast<int32_t>((7 * i + 11) % model_.info().vocabulary);
    rows_.clear();
    for (int row = 0; row < cache_->rows(); ++row) rows_.push_back({row, tokens_, 1});
    steps_->Step(*cache_, rows_, {.f32 = logits_.data()});
  }
  void Truncate(int64_t length) {
    for (int row = 0; row < cache_->rows(); ++row) cache_->Truncate(row, length);
  }
  // Fills every sequence up to `length`.
  void Fill(int64_t length) {
    for (int64_t done = cache_->length(0); done < length; done = cache_->length(0))
      Step(std::min(kPrompt, length - done));
  }

  double bytes_per_token() const { return static_cast<double>(BytesPerToken(cache_->layout())); }

 private:
  const Model& model_;
  std::unique_ptr<KvCache> cache_;
  std::unique_ptr<engine::StepModel> steps_;
  std::vector<float> logits_;
  std::vector<int32_t> tokens_;
  std::vector<StepRow> rows_;
};

class ModelBench {
 public:
  ModelBench(const Model& model, const BenchOptions& options, base::ThreadPool& pool, CeilingProbe& probe)
      : model_(model), options_(options), pool_(pool), probe_(probe), weights_(model.impl().loaded.per_token()) {}

  ModelMeasurement Prefill(int64_t tokens) {
    ModelRun run(model_, options_, pool_.threads(), 1, tokens);
    const auto work = [&] {
      run.Truncate(0);
      run.Step(tokens);
    };
    const double count = static_cast<double>(tokens);
    return Measure({.suite = "prefill", .tokens = tokens}, work, count,
                   {weights_.operations * count + weights_.head_operations,
                    weights_.bytes + weights_.head_bytes + run.bytes_per_token() * count});
  }

  // `tokens` one by one from `depth` on, of each of the sequences.
  ModelMeasurement Decode(ModelMeasurement what) {
    ModelRun run(model_, options_, pool_.threads(), static_cast<int>(what.sequences), what.depth + what.tokens);
    run.Fill(what.depth);
    const auto work = [&] {
      run.Truncate(what.depth);
      for (int64_t i = 0; i < what.tokens; ++i) run.Step(1);
    };
    const auto steps = static_cast<double>(what.tokens), sequences = static_cast<double>(what.sequences);
    const double cached = static_cast<double>(what.depth) + steps / 2;
    return Measure(what, work, steps * sequences,
                   {(weights_.operations + weights_.head_operations) * steps * sequences,
                    steps * (weights_.bytes + weights_.head_bytes + sequences * cached * run.bytes_per_token())});
  }

 private:
  ModelMeasurement Measure(ModelMeasurement what, const std::function<void()>& run, double tokens, const Work& work) {
    const bool int8 = model_.info().compute == "int8";
    const std::array works{run, int8 ? probe_.Int8() : probe_.Fma(), probe_.Read()};
    const auto timings = InRounds(works, {.threads = pool_.threads(), .seconds = 1.0});
    const double computing =
        work.operations / (int8 ? probe_.int8_operations() : probe_.fma_operations()) * timings[1].seconds;
    const double reading = work.bytes / probe_.read_bytes() * timings[2].seconds;
    what.gflops = 1e-9 * work.operations / timings[0].seconds;
    what.gbps = 1e-9 * work.bytes / timings[0].seconds;
    what.threads = pool_.threads();
    what.tok_s = tokens / timings[0].seconds;
    what.share = std::max(computing, reading) / timings[0].seconds;
    what.limit = reading > computing ? "read" : int8 ? "int8" : "fma";
    what.spread = timings[0].spread;
    return what;
  }

  const Model& model_;
  const BenchOptions& options_;
  base::ThreadPool& pool_;
  CeilingProbe& probe_;
  model::TokenCost weights_;
};

}  // namespace
}  // namespace ekvi::bench

namespace ekvi {

ModelReport BenchModel(const std::shared_ptr<const Model>& model, const BenchOptions& options,
                       const std::function<void(const ModelMeasurement&)>& on_row) {
  const base::ScopedFpEnv environment;
  const int64_t context = model->info().context;
  ModelReport report;
  const auto add = [&](ModelMeasurement row) {
    report.rows.push_back(std::move(row));
    if (on_row) on_row(report.rows.back());
  };
  for (const int threads : bench::ThreadCounts(options)) {
    base::ThreadPool pool(threads);
    bench::CeilingProbe probe(kernels::ParseTarget(options.target), pool);
    report.ceilings.push_back(probe.MeasureAll());
    bench::ModelBench bench(*model, options, pool, probe);
    const int64_t generated = std::min(bench::kGenerated, context);
    add(bench.Prefill(std::min(bench::kPrompt, context)));
    add(bench.Decode({.suite = "decode", .tokens = generated}));
    if (context >= bench::kDepth + generated) {
      add(bench.Decode({.suite = "decode", .tokens = generated, .depth = bench::kDepth}));
    }
    for (const int sequences : {1, bench::kBatch}) {
      add(bench.Decode({.suite = "batch", .tokens = std::min(bench::kBatchTokens, context), .sequences = sequences}));
    }
  }
  return report;
}

}  // namespace ekvi
