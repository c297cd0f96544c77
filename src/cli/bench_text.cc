#include "cli/bench_text.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/format.h"
#include "cli/table.h"
#include "ekvi/machine.h"

namespace ekvi::cli {
namespace {

std::string ShareText(double share, const std::string& limit) {
  return fmt::format("{:.0f} % of {}", 100 * share, limit);
}

// "25,720", or three digits.
std::string TokenRate(double value) {
  return value < 1000 ? Rate(value) : Count(static_cast<int64_t>(std::llround(value)));
}

std::string Percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// One layout for title and rows.
std::string KernelColumns(const std::string& name, const std::string& threads, const std::string& time,
                          const std::string& rate, const std::string& share, const std::string& spread) {
  return fmt::format("{:<62}  {:>7}  {:>7}  {:>13}  {:>13}  {:>6}\n", name, threads, time, rate, share, spread);
}

std::string WorkText(const ModelMeasurement& row) {
  if (row.suite == "prefill") return fmt::format("prefill {}", CountOf(row.tokens, "token"));
  if (row.suite == "batch") {
    return fmt::format("batch of {}, {} each", row.sequences, CountOf(row.tokens, "token"));
  }
  return fmt::format("decode {} from {} on", CountOf(row.tokens, "token"), Count(row.depth));
}

std::string ModelColumns(const std::string& work, const std::string& threads, const std::string& rate,
                         const std::string& share, const std::string& spread) {
  return fmt::format("{:<32}  {:>7}  {:>8}  {:>13}  {:>6}\n", work, threads, rate, share, spread);
}

}  // namespace

std::string BenchHeader(const Model* model, const std::string& target) {
  const Machine machine = DescribeMachine();
  std::string text =
      fmt::format("{}, {} of {} | {}\n", Printable(machine.cpu.empty() ? "unknown CPU" : machine.cpu), machine.threads,
                  CountOf(machine.cores_online, "processor"), target.empty() ? machine.targets.front() : target);
  if (model != nullptr) {
    const ModelInfo& info = model->info();
    text += fmt::format("{} {} | {} arithmetic\n", Printable(info.name), Printable(info.weights), info.compute);
  }
  return text;
}

std::string CeilingsText(const std::vector<BenchCeilings>& ceilings) {
  Table table(std::vector<Align>(6, Align::kRight));
  table.Add({"threads", "fma: f32 multiply-adds", "int8: dot products", "read: memory", "L3", "L2"});
  for (const BenchCeilings& c : ceilings) {
    table.Add({std::to_string(c.threads), fmt::format("{} GFLOP/s", Rate(c.fma_f32_gflops)),
               fmt::format("{} Gop/s", Rate(c.int8_gops)), fmt::format("{} GB/s", Rate(c.read_dram_gbps)),
               fmt::format("{} GB/s", Rate(c.read_l3_gbps)), fmt::format("{} GB/s", Rate(c.read_l2_gbps))});
  }
  return fmt::format(
      "\n{}\nOne thread is timed by its own processor time, several by the clock; medians.\nshare: of the ceiling that "
      "limits it, measured in the same rounds; what caches keep can pass read\n\n",
      table.Render());
}

std::string KernelTitle() { return KernelColumns("kernel", "threads", "time", "rate", "share", "spread"); }

std::string KernelLine(const KernelMeasurement& row) {
  const std::string rate = row.limit == "read"
                               ? fmt::format("{} GB/s", Rate(row.gbps))
                               : fmt::format("{} G{}/s", Rate(row.gflops), row.compute == "int8" ? "op" : "FLOP");
  return KernelColumns(row.name, std::to_string(row.threads), Duration(static_cast<int64_t>(row.seconds * 1e9)), rate,
                       ShareText(row.share, row.limit), Percent(row.spread));
}

std::string ModelTitle() { return ModelColumns("work", "threads", "tok/s", "share", "spread"); }

std::string ModelLine(const ModelMeasurement& row) {
  return ModelColumns(WorkText(row), std::to_string(row.threads), TokenRate(row.tok_s), ShareText(row.share, row.limit),
                      Percent(row.spread));
}

std::string NeighbourTitle() {
  return fmt::format(
      "Alone and beside a process that keeps one processor busy, in turns; all by the clock.\n\n"
      "{:<32}  {:>7}  {:>12}  {:>12}  {:>12}  {:>5}\n",
      "work", "threads", "busy", "tok/s alone", "tok/s beside", "share");
}

std::string NeighbourLine(const NeighbourMeasurement& row) {
  return fmt::format("{:<32}  {:>7}  {:>12}  {:>12}  {:>12}  {:>5}\n",
                     fmt::format("decode {} from 0 on", CountOf(row.tokens, "token")), row.threads,
                     fmt::format("processor {}", row.processor), TokenRate(row.tok_s_alone),
                     TokenRate(row.tok_s_beside), Percent(row.share));
}

}  // namespace ekvi::cli
