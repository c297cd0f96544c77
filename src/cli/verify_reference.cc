#include "cli/verify_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "cli/table.h"
#include "ekvi/verify.h"

namespace ekvi::cli {
namespace {

// NaN is no error that a tolerance covers.
bool Within(double error, double tolerance) { return error <= tolerance; }

double GoldenTolerance(const Arguments& arguments, const GoldenResult& result) {
  if (arguments.Given("tol")) return arguments.Number("tol");
  return result.kind.find("decoder") != std::string::npos ? kDecoderTolerance : kAttentionTolerance;
}

double Worst(const std::vector<GoldenResult>& results) {
  double worst = 0;
  for (const GoldenResult& result : results) {
    if (!(result.max_abs_error <= worst)) worst = result.max_abs_error;
  }
  return worst;
}

std::string GoldenText(const std::vector<GoldenResult>& results) {
  Table table({Align::kLeft, Align::kLeft, Align::kRight});
  table.Add({"file", "kind", "worst error"});
  for (const GoldenResult& result : results) {
    table.Add({Printable(result.file), Printable(result.kind), fmt::format("{:.2e}", result.max_abs_error)});
  }
  return table.Render() +
         fmt::format("worst of {}: {:.2e}\n", CountOf(static_cast<int64_t>(results.size()), "file"), Worst(results));
}

Json GoldenJson(const Arguments& arguments, const std::vector<GoldenResult>& results) {
  Json report = ReportFor(arguments, nullptr);
  Json& golden = report["results"]["golden"] = Json::array();
  for (const GoldenResult& result : results) {
    golden.push_back({{"file", result.file}, {"kind", result.kind}, {"max_abs_error", result.max_abs_error}});
  }
  report["results"]["worst"] = Worst(results);
  RepeatAtTop(report, {"golden"});
  report["warnings"] = Json::array();
  return report;
}

struct Comparison {
  ExpectResult result;
  double tolerance = 0;
  bool Holds() const { return Within(result.max_abs_error, tolerance) && result.greedy_equal == result.greedy_total; }
};

std::string ExpectText(const Comparison& comparison) {
  const ExpectResult& result = comparison.result;
  Table table;
  table.Add({"positions", Count(result.positions)});
  const auto [error, tolerance] = Against(result.max_abs_error, comparison.tolerance);
  table.Add({"worst error", fmt::format("{} (tolerance {})", error, tolerance)});
  table.Add({"largest logit", fmt::format("{:.4g}", result.max_abs_logit)});
  if (result.greedy_total > 0) {
    table.Add({"greedy tokens", fmt::format("{} of {} equal", Count(result.greedy_equal), Count(result.greedy_total))});
  }
  return table.Render();
}

Json ExpectJson(const Arguments& arguments, const Model& model, const Comparison& comparison) {
  const ExpectResult& result = comparison.result;
  Json report = ReportFor(arguments, &model);
  report["results"] = {{"ok", comparison.Holds()},
                       {"expect",
                        {{"max_abs_error", result.max_abs_error},
                         {"max_abs_logit", result.max_abs_logit},
                         {"positions", result.positions},
                         {"greedy_equal", result.greedy_equal},
                         {"greedy_total", result.greedy_total},
                         {"tolerance", comparison.tolerance}}}};
  RepeatAtTop(report, {"ok", "expect"});
  report["warnings"] = Json::array();
  return report;
}

}  // namespace

int RunGolden(const Arguments& arguments, Console& console) {
  std::vector<std::filesystem::path> paths{arguments.Text("golden")};
  for (const std::string& path : arguments.positional()) paths.emplace_back(path);
  Progress progress(ProgressModeOf(arguments));
  progress.Stage("reference vectors");
  const auto results = VerifyGolden(paths);
  progress.Clear();
  console.Answer(console.json() ? JsonText(GoldenJson(arguments, results)) : GoldenText(results));
  console.Finish();
  const auto differs = [&](const GoldenResult& result) {
    return !Within(result.max_abs_error, GoldenTolerance(arguments, result));
  };
  const auto count = std::count_if(results.begin(), results.end(), differs);
  if (count == 0) return kOk;
  const GoldenResult& first = *std::find_if(results.begin(), results.end(), differs);
  const auto [error, tolerance] = Against(first.max_abs_error, GoldenTolerance(arguments, first));
  throw ExitError(
      kMismatch, ErrorCode::kCorrupt,
      fmt::format("{} of {} differ by more than allowed", count, CountOf(static_cast<int64_t>(results.size()), "file")),
      fmt::format("first: {}, {} > {}", first.file, error, tolerance),
      arguments.Given("tol") ? "a larger --tol, if such an error is fine"
                             : "--tol X allows another error; a file that is sound makes this a bug worth a report");
}

double LogitsTolerance(const Model& model, const ExpectResult& result) {
  const std::string& compute = model.info().compute;
  if (compute == "int8") return kLogitsShareInt8 * result.max_abs_logit;
  return compute == "f64" ? kLogitsToleranceF64 : kLogitsToleranceF32;
}

int RunExpect(const Arguments& arguments, Console& console) {
  const SessionOptions session = SessionOptionsOf(arguments, 0);
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  progress.Stage("logits");
  const ExpectResult result = VerifyExpect(model, arguments.Text("expect"), session);
  const Comparison comparison{result,
                              arguments.Given("tol") ? arguments.Number("tol") : LogitsTolerance(*model, result)};
  progress.Clear();
  console.Answer(console.json() ? JsonText(ExpectJson(arguments, *model, comparison)) : ExpectText(comparison));
  console.Finish();
  if (comparison.Holds()) return kOk;
  const auto [error, tolerance] = Against(result.max_abs_error, comparison.tolerance);
  throw ExitError(kMismatch, ErrorCode::kCorrupt, "the logits are not those expected",
                  fmt::format("worst error {}, tolerance {}; {} of {} greedy tokens equal", error, tolerance,
                              Count(result.greedy_equal), Count(result.greedy_total)),
                  "--compute f64, to tell the arithmetic's rounding from another model or other tokens");
}

}  // namespace ekvi::cli
