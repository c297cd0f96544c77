// This machine's ceilings, and what share of them kernels and a model reach.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "ekvi/bench.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "suite",
     .kind = ValueKind::kChoice,
     .words = "model|kernels",
     .fallback = "model",
     .help = "what is measured"},
    {.name = "filter",
     .kind = ValueKind::kText,
     .value = "TEXT",
     .environment = Environment::kIgnore,
     .help = "only kernels whose line holds it"},
};

BenchOptions OptionsOf(const Arguments& arguments) {
  BenchOptions options{.filter = arguments.Text("filter")};
  if (const auto threads = arguments.Integer("threads")) options.threads = {static_cast<int>(*threads)};
  options.target = TargetOf(arguments);
  return options;
}

std::string CeilingText(const BenchCeilings& c) {
  return fmt::format("{}: FMA f32 {} GFLOP/s | int8 {} Gop/s | read L2 {} L3 {} DRAM {} GB/s\n",
                     CountOf(c.threads, "thread"), Rate(c.fma_f32_gflops), Rate(c.int8_gops), Rate(c.read_l2_gbps),
                     Rate(c.read_l3_gbps), Rate(c.read_dram_gbps));
}

std::string ShapeText(const KernelMeasurement& row) {
  std::string text;
  for (const auto& [name, value] : row.shape) text += fmt::format(" {} {}", name, value);
  return text;
}

std::string KernelText(const KernelMeasurement& row) {
  return fmt::format(
      "{:<24} {:<6} {:<4} t{} {:>10}  {:>6} GFLOP/s {:>6} GB/s  {:>4.0f} % of {:<4} spread {:.0f} % {}\n", row.kernel,
      row.dtype, row.compute, row.threads, Duration(static_cast<int64_t>(row.seconds * 1e9)), Rate(row.gflops),
      Rate(row.gbps), 100 * row.share, row.limit, 100 * row.spread, ShapeText(row));
}

std::string ModelText(const ModelMeasurement& row) {
  return fmt::format("{:<8} {:>4} tokens at {:>5} x {} t{}  {:>6} tok/s  {:>4.0f} % of {:<4} spread {:.0f} %\n",
                     row.suite, row.tokens, row.depth, row.sequences, row.threads, Rate(row.tok_s), 100 * row.share,
                     row.limit, 100 * row.spread);
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

int RunKernels(const Arguments& arguments, Console& console) {
  const auto show = [&](const KernelMeasurement& row) {
    if (!console.json()) console.Answer(KernelText(row));
  };
  const KernelReport measured = BenchKernels(OptionsOf(arguments), show);
  if (console.json()) {
    Json report = ReportFor(arguments, nullptr);
    report["ceilings"] = CeilingsJson(measured.ceilings);
    report["kernels"] = Json::array();
    for (const KernelMeasurement& row : measured.kernels) report["kernels"].push_back(KernelJson(row));
    console.Answer(JsonText(report));
  } else {
    for (const BenchCeilings& ceilings : measured.ceilings) console.Answer(CeilingText(ceilings));
  }
  console.Finish();
  return kOk;
}

int RunModel(const Arguments& arguments, Console& console) {
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  const auto show = [&](const ModelMeasurement& row) {
    if (!console.json()) console.Answer(ModelText(row));
  };
  const ModelReport measured = BenchModel(model, OptionsOf(arguments), show);
  if (console.json()) {
    Json report = ReportFor(arguments, model.get());
    report["ceilings"] = CeilingsJson(measured.ceilings);
    for (const std::string suite : {"prefill", "decode", "batch"}) report[suite] = Json::array();
    for (const ModelMeasurement& row : measured.rows) report[row.suite].push_back(ModelJson(row));
    console.Answer(JsonText(report));
  } else {
    for (const BenchCeilings& ceilings : measured.ceilings) console.Answer(CeilingText(ceilings));
  }
  console.Finish();
  return kOk;
}

int Run(const Arguments& arguments, Console& console) {
  const auto& words = arguments.positional();
  if (!words.empty() && words[0] != "kernels" && words[0] != "model") {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is nothing to measure", Quoted(words[0])), "",
                "ekvi bench kernels, or ekvi bench -m MODEL");
  }
  const std::string suite = words.empty() ? arguments.Text("suite") : words[0];
  return suite == "kernels" ? RunKernels(arguments, console) : RunModel(arguments, console);
}

}  // namespace

const Command& BenchCommand() {
  static const Command kCommand = {
      .name = "bench",
      .summary = "speed, as a share of what this machine can do",
      .usage = "[kernels] [-m MODEL]",
      .details =
          "Measures the machine's ceilings (multiply-adds, dot products of bytes, reading from each level of memory) "
          "in "
          "turns with what is measured, so that a busy machine slows both: the share of the ceiling says more than the "
          "rate. Every result is checked before it is timed. One thread is timed by its processor time, several by the "
          "clock.\n\n"
          "`bench kernels` measures attention and matrix products at the shapes of models in use; it takes minutes, "
          "`--filter` some of it. `bench -m MODEL` measures prompts of 512 tokens, generation from an empty cache and "
          "from 4,096 tokens on, and batches.\n\n"
          "`--json`: `ceilings` (by threads: `fma_f32_gflops`, `int8_gops`, `read_gbps`), `kernels` or `prefill`, "
          "`decode`, `batch`; each row with `share` of its `limit` and `spread`.",
      .example = "ekvi bench kernels --filter attention_decode",
      .groups = {{"Measurement", kOptions}, ModelGroup(), ComputeGroup(), ThreadsGroup(), OutputGroup()},
      .words = "kernels|model",
      .arguments_max = 1,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
