// This machine's ceilings, and what share of them kernels and a model reach.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "cli/bench_text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "ekvi/bench.h"
#include "ekvi/machine.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "suite",
     .kind = ValueKind::kChoice,
     .words = "model|kernels|neighbour",
     .fallback = "model",
     .help = "what is measured"},
    {.name = "filter",
     .kind = ValueKind::kText,
     .value = "TEXT",
     .environment = Environment::kIgnore,
     .help = "only kernels whose name holds it"},
    {.name = "seconds",
     .kind = ValueKind::kNumber,
     .value = "S",
     .minimum = 0,
     .maximum = 3600,
     .open = true,
     .environment = Environment::kIgnore,
     .help = "of each measurement; at least 5 rounds"},
};

BenchOptions OptionsOf(const Arguments& arguments) {
  BenchOptions options{.filter = arguments.Text("filter")};
  if (const auto threads = arguments.Integer("threads")) options.threads = {static_cast<int>(*threads)};
  options.target = TargetOf(arguments);
  if (arguments.Given("seconds")) options.seconds = arguments.Number("seconds");
  return options;
}

Json CeilingsJson(const std::vector<BenchCeilings>& ceilings) {
  Json fma = Json::object(), int8 = Json::object(), read = Json::object();
  for (const BenchCeilings& c : ceilings) {
    const std::string threads = std::to_string(c.threads);
    fma[threads] = c.fma_f32_gflops;
    int8[threads] = c.int8_gops;
    read[threads] = {{"l2", c.read_l2_gbps}, {"l3", c.read_l3_gbps}, {"dram", c.read_dram_gbps}};
  }
  return {{"fma_f32_gflops", fma}, {"int8_gops", int8}, {"read_gbps", read}};
}

Json KernelJson(const KernelMeasurement& row) {
  Json shape = Json::object();
  for (const auto& [name, value] : row.shape) shape[name] = value;
  return {{"kernel", row.kernel},   {"dtype", row.dtype},  {"compute", row.compute},
          {"threads", row.threads}, {"shape", shape},      {"ns", static_cast<int64_t>(row.seconds * 1e9)},
          {"gflops", row.gflops},   {"gbps", row.gbps},    {"share", row.share},
          {"limit", row.limit},     {"spread", row.spread}};
}

Json ModelJson(const ModelMeasurement& row) {
  Json json = {{"tokens", row.tokens}, {"depth", row.depth}, {"sequences", row.sequences}, {"threads", row.threads}};
  json.update(Json{{"tok_s", row.tok_s},
                   {"gflops", row.gflops},
                   {"gbps", row.gbps},
                   {"share", row.share},
                   {"limit", row.limit},
                   {"spread", row.spread}});
  return json;
}

Json NeighbourJson(const NeighbourMeasurement& row) {
  return {{"threads", row.threads},           {"tokens", row.tokens},
          {"processor", row.processor},       {"tok_s_alone", row.tok_s_alone},
          {"tok_s_beside", row.tok_s_beside}, {"share", row.share}};
}

// Shows progress on stderr and rows on stdout as they come, or with --json nothing before the end.
class Reporter {
 public:
  Reporter(const Arguments& arguments, Console& console)
      : arguments_(arguments), console_(console), progress_(ProgressModeOf(arguments)) {}

  Progress& progress() { return progress_; }

  // The header comes first, once the options have proved good; `title` stands above the rows, and ceilings, where some
  // are measured, above the title.
  BenchWatch Watch(const std::string& header, const std::string& title) {
    BenchWatch watch;
    watch.on_begin = [this, header](const std::string& what, int64_t done, int64_t total) {
      progress_.Clear();
      if (!std::exchange(begun_, true)) Say(header);
      progress_.Stage(Printable(what), total);
      progress_.Advance(done);
    };
    watch.on_ceilings = [this](const BenchCeilings& ceilings) { ceilings_.push_back(ceilings); };
    watch.on_kernel = [this, title](const KernelMeasurement& row) { SayRow(title, KernelLine(row)); };
    watch.on_model = [this, title](const ModelMeasurement& row) { SayRow(title, ModelLine(row)); };
    watch.on_neighbour = [this, title](const NeighbourMeasurement& row) { SayRow(title, NeighbourLine(row)); };
    return watch;
  }

  // `results` by suite.
  int End(const Model* model, const Json& results) {
    progress_.Clear();
    if (console_.json()) {
      Json report = ReportFor(arguments_, model);
      const std::string target = TargetOf(arguments_);
      report["target"] = target.empty() ? DescribeMachine().targets.front() : target;
      report.update(results);
      report["results"] = results;
      report["warnings"] = Json::array();
      console_.Answer(JsonText(report));
    }
    console_.Finish();
    return kOk;
  }

 private:
  void Say(const std::string& text) {
    if (!console_.json()) console_.Answer(text);
  }
  void SayRow(const std::string& title, const std::string& line) {
    progress_.Clear();
    if (!std::exchange(titled_, true)) Say((ceilings_.empty() ? "\n" : CeilingsText(ceilings_)) + title);
    Say(line);
  }

  const Arguments& arguments_;
  Console& console_;
  Progress progress_;
  std::vector<BenchCeilings> ceilings_;
  bool begun_ = false, titled_ = false;
};

int RunKernels(const Arguments& arguments, Console& console) {
  const BenchOptions options = OptionsOf(arguments);
  Reporter reporter(arguments, console);
  const KernelReport measured =
      BenchKernels(options, reporter.Watch(BenchHeader(nullptr, options.target), KernelTitle()));
  Json results{{"ceilings", CeilingsJson(measured.ceilings)}, {"kernels", Json::array()}};
  for (const KernelMeasurement& row : measured.kernels) results["kernels"].push_back(KernelJson(row));
  return reporter.End(nullptr, results);
}

int RunModel(const Arguments& arguments, Console& console) {
  const BenchOptions options = OptionsOf(arguments);
  Reporter reporter(arguments, console);
  const auto model = LoadModel(arguments, reporter.progress());
  const ModelReport measured =
      BenchModel(model, options, reporter.Watch(BenchHeader(model.get(), options.target), ModelTitle()));
  Json results{{"ceilings", CeilingsJson(measured.ceilings)}};
  for (const std::string suite : {"prefill", "decode", "batch"}) results[suite] = Json::array();
  for (const ModelMeasurement& row : measured.rows) results[row.suite].push_back(ModelJson(row));
  return reporter.End(model.get(), results);
}

int RunNeighbour(const Arguments& arguments, Console& console) {
  const BenchOptions options = OptionsOf(arguments);
  Reporter reporter(arguments, console);
  const auto model = LoadModel(arguments, reporter.progress());
  Json results{{"neighbour", Json::array()}};
  for (const NeighbourMeasurement& row :
       BenchNeighbour(model, options, reporter.Watch(BenchHeader(model.get(), options.target), NeighbourTitle()))) {
    results["neighbour"].push_back(NeighbourJson(row));
  }
  return reporter.End(model.get(), results);
}

// An option of another suite is refused where it was typed: it would change nothing.
void RefuseTyped(const Arguments& arguments, std::initializer_list<std::string_view> names, const std::string& suite,
                 std::string_view hint) {
  for (const std::string_view name : names) {
    if (arguments.source(name) != Source::kFlag) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--{} has no meaning for the suite {}", name, suite), "",
                std::string(hint));
  }
}

std::string SuiteOf(const Arguments& arguments) {
  const auto& words = arguments.positional();
  if (words.empty()) return arguments.Text("suite");
  const auto suites = SplitWords(BenchCommand().words);
  if (std::ranges::find(suites, words[0]) == suites.end()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is nothing to measure", Quoted(words[0])),
                "there are kernels, model and neighbour", "ekvi bench kernels, or ekvi bench -m MODEL");
  }
  if (arguments.source("suite") == Source::kFlag && arguments.Text("suite") != words[0]) {
    throw Error(ErrorCode::kInvalidArgument, "two suites are asked for",
                fmt::format("{} and --suite {}", words[0], arguments.Text("suite")), "one of them");
  }
  return words[0];
}

int Run(const Arguments& arguments, Console& console) {
  const std::string suite = SuiteOf(arguments);
  if (suite == "kernels") {
    RefuseTyped(arguments, {"model", "compute"}, suite, "ekvi bench kernels, or ekvi bench -m MODEL");
    return RunKernels(arguments, console);
  }
  RefuseTyped(arguments, {"filter"}, suite, "ekvi bench kernels --filter TEXT");
  return suite == "model" ? RunModel(arguments, console) : RunNeighbour(arguments, console);
}

}  // namespace

const Command& BenchCommand() {
  static const Command kCommand = {
      .name = "bench",
      .summary = "speed, as a share of what this machine can do",
      .usage = "[kernels|neighbour] [-m MODEL]",
      .details =
          "Measures the machine's ceilings (multiply-adds, dot products of bytes, reading from each level of memory), "
          "then again in turns with what is measured, so that a busy machine slows both: the share of the ceiling says "
          "more than the rate. Every kernel's result is checked before it is timed. One thread is timed by its own "
          "processor time, several by the clock; spread is the slowest round less the fastest, as a share of the "
          "median, without the tenth at either end.\n\n"
          "`bench kernels` measures attention and matrix products at the shapes of models in use; it takes minutes, "
          "`--filter` some of it: a part of the name that a row shows, in capitals or not. `bench -m MODEL` measures "
          "prompts of 512 tokens, generation from an empty cache and from 4,096 tokens on where the context has room, "
          "and batches. `bench neighbour -m MODEL` generates alone and beside a process that keeps the last processor "
          "busy, in turns, with all threads or `-t`; by the clock.\n\n"
          "`--json`, in `results` and beside it: `ceilings` (by threads: `fma_f32_gflops`, `int8_gops`, `read_gbps`) "
          "with `kernels` or `prefill`, `decode`, `batch`, each row with `share` of its `limit` and `spread`; or "
          "`neighbour`: `tok_s_alone`, `tok_s_beside`, and the `share` that is left.",
      .example = "ekvi bench kernels --filter attention_decode",
      .groups = {{"Measurement", kOptions}, ModelGroup(), ComputeGroup(), ThreadsGroup(), OutputGroup()},
      .words = "kernels|model|neighbour",
      .arguments_max = 1,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
