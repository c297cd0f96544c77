// Proofs on the user's machine: the law's paths here, comparison with others' numbers in verify_reference.cc.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "cli/suggest.h"
#include "cli/table.h"
#include "cli/verify_reference.h"
#include "ekvi/verify.h"

namespace ekvi::cli {
namespace {

constexpr double kManyTokens = 1e9;
constexpr int64_t kGreedyBegin = 8;  // tokens that the greedy ones continue

constexpr Option kOptions[] = {
    {.name = "inject",
     .kind = ValueKind::kText,
     .value = "NAME",
     .environment = Environment::kIgnore,
     .help = "break the engine on purpose; list: names"},
    {.name = "golden",
     .kind = ValueKind::kPath,
     .value = "PATH...",
     .environment = Environment::kIgnore,
     .help = "replay reference vectors (files, folders)"},
    {.name = "expect",
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "compare with logits in a safetensors file"},
    {.name = "tol",
     .kind = ValueKind::kNumber,
     .value = "X",
     .environment = Environment::kIgnore,
     .help = "largest error that --golden, --expect allow"},
    {.name = "length",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 1,
     .maximum = kManyTokens,
     .fallback = "512",
     .help = "tokens of the reference pass"},
    {.name = "greedy",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 0,
     .maximum = kManyTokens,
     .fallback = "64",
     .help = "tokens continued with and without a cache"},
    {.name = "seed",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 0,
     .fallback = "1",
     .help = "of the tokens and the random cuts"},
};

// An option of another mode is refused where it was typed: it would change nothing.
void RefuseTyped(const Arguments& arguments, std::initializer_list<std::string_view> names, std::string_view mode) {
  for (const std::string_view name : names) {
    if (arguments.source(name) != Source::kFlag) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--{} has no meaning {}", name, mode), "",
                "leave one of them out");
  }
}

// Names alone, for `for name in $(…)`; -v says what each breaks.
int ListFaults(const Arguments& arguments, Console& console) {
  Json report = ReportFor(arguments, nullptr);
  Json& faults = report["results"]["faults"] = Json::array();
  Table table;
  std::string names;
  for (const FaultInfo& fault : FaultNames()) {
    table.Add({std::string(fault.name), std::string(fault.what)});
    names += fmt::format("{}\n", fault.name);
    faults.push_back({{"name", fault.name}, {"what", fault.what}});
  }
  report["warnings"] = Json::array();
  console.Answer(console.json() ? JsonText(report) : console.verbose() ? table.Render() : names);
  console.Finish();
  return kOk;
}

void CheckFault(const std::string& name) {
  std::vector<std::string> names;
  for (const FaultInfo& fault : FaultNames()) names.emplace_back(fault.name);
  if (name.empty() || std::find(names.begin(), names.end(), name) == names.end()) {
    const auto meant = Closest(name, names);
    throw Error(ErrorCode::kInvalidArgument, fmt::format("--inject: {} is not a fault", Quoted(name)), "",
                meant ? fmt::format("did you mean {}?", *meant) : "ekvi verify --inject list");
  }
}

std::string LawText(const VerifyReport& report, const Console& console) {
  Table table;
  table.Add({"path", "compared", "result"});
  for (const PathResult& path : report.paths) {
    table.Add(
        {Printable(path.name), Printable(path.compared),
         path.identical ? console.Painted("identical bits", Paint::kGreen) : console.Painted("DIFFERS", Paint::kRed)});
  }
  std::string text = fmt::format("reference: {}\nlogits sha256 {}\n\n{}", Printable(report.reference),
                                 report.logits_sha256, table.Render());
  for (const PathResult& path : report.paths) {
    if (!path.identical)
      text += fmt::format("\n{}: {}\n", Printable(path.name), Printable(path.difference, Lines::kKeep));
  }
  return text;
}

Json LawJson(const Arguments& arguments, const Model& model, const VerifyReport& verified) {
  Json report = ReportFor(arguments, &model);
  Json& results = report["results"] = {{"ok", verified.ok},
                                       {"reference", verified.reference},
                                       {"logits_sha256", verified.logits_sha256},
                                       {"paths", Json::array()}};
  for (const PathResult& path : verified.paths) {
    Json& entry = results["paths"].emplace_back(
        Json{{"name", path.name}, {"compared", path.compared}, {"identical", path.identical}});
    if (!path.identical) entry["difference"] = path.difference;
  }
  RepeatAtTop(report, {"ok", "paths"});
  report["warnings"] = Json::array();
  return report;
}

// Says nothing where all is as it should be: without a fault no path differs, with one some path does.
void Judge(const VerifyReport& report, const std::string& fault) {
  const auto differs = [](const PathResult& path) { return !path.identical; };
  const auto first = std::find_if(report.paths.begin(), report.paths.end(), differs);
  const std::string in_force = fault.empty() ? "" : fmt::format(" (fault {} is in force)", fault);
  if (first != report.paths.end()) {
    throw ExitError(
        kMismatch, ErrorCode::kCorrupt,
        fmt::format("{} of {} paths differ from the reference{}",
                    std::count_if(report.paths.begin(), report.paths.end(), differs), report.paths.size(), in_force),
        fmt::format("{}: {}", first->name, first->difference),
        fault.empty() ? "the same with --target scalar and -t 1: if it holds there, this is a bug worth a report"
                      : "this is what --inject is for; without it the paths must be identical");
  }
  if (!report.ok)
    throw ExitError(kMismatch, ErrorCode::kCorrupt, fmt::format("the reference does not hold{}", in_force), "",
                    "--target scalar");
  if (!fault.empty()) {
    throw ExitError(kInternal, ErrorCode::kUnsupported, fmt::format("the fault {} was not caught", fault),
                    fmt::format("{} paths, all identical", report.paths.size()),
                    "a longer --length; else this is a bug of the verifier");
  }
}

// A length that was asked for is never cut; the default one is, to what the model was made for.
void CheckLength(const Arguments& arguments, const Model& model) {
  const int64_t context = model.info().default_context, length = arguments.Integer("length").value();
  if (arguments.Given("length") && length > context) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} do not fit the context", arguments.Origin("length"), CountOf(length, "token")),
                fmt::format("the model's is {}", Count(context)), fmt::format("--length {}", context));
  }
  const int64_t first = std::min(kGreedyBegin, std::min(length, context)), most = context - first;
  const int64_t greedy = arguments.Integer("greedy").value();
  if (arguments.Given("greedy") && greedy > most) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {} do not fit the context", arguments.Origin("greedy"), CountOf(greedy, "token")),
                fmt::format("{} they continue + {} = {} > {}", CountOf(first, "token"), Count(greedy),
                            Count(first + greedy), Count(context)),
                fmt::format("--greedy {}", most));
  }
}

VerifyReport RunPaths(const Arguments& arguments, const std::shared_ptr<const Model>& model, Progress& progress) {
  const VerifyOptions options{.tokens = arguments.Integer("length").value(),
                              .greedy = arguments.Integer("greedy").value(),
                              .seed = static_cast<uint64_t>(arguments.Integer("seed").value()),
                              .fault = arguments.Text("inject"),
                              .session = SessionOptionsOf(arguments, 0)};
  progress.Stage("verify: reference");
  return Verify(model, options, [&](const PathResult& path) {
    progress.Rename(
        fmt::format("verify: after {} ({})", Printable(path.name), path.identical ? "identical" : "differs"));
  });
}

int RunLaw(const Arguments& arguments, Console& console) {
  if (arguments.Given("inject")) CheckFault(arguments.Text("inject"));
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  CheckLength(arguments, *model);
  const VerifyReport report = RunPaths(arguments, model, progress);
  progress.Clear();
  console.Answer(console.json() ? JsonText(LawJson(arguments, *model, report)) : LawText(report, console));
  console.Finish();
  Judge(report, arguments.Text("inject"));
  return kOk;
}

int Run(const Arguments& arguments, Console& console) {
  if (arguments.Given("golden")) {
    RefuseTyped(arguments,
                {"inject", "expect", "length", "greedy", "seed", "model", "compute", "kv", "block", "chunk", "threads",
                 "target"},
                "with --golden");
    return RunGolden(arguments, console);
  }
  if (!arguments.positional().empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("verify takes no argument, got {}", Quoted(arguments.positional()[0])), "",
                "-m MODEL names a model, --golden PATH... reference vectors");
  }
  if (arguments.Given("expect")) {
    RefuseTyped(arguments, {"inject", "length", "greedy", "seed"}, "with --expect");
    return RunExpect(arguments, console);
  }
  RefuseTyped(arguments, {"tol"}, "without --golden or --expect");
  return arguments.Text("inject") == "list" ? ListFaults(arguments, console) : RunLaw(arguments, console);
}

}  // namespace

const Command& VerifyCommand() {
  static const Command kCommand = {
      .name = "verify",
      .summary = "prove the law on this machine with this model",
      .usage = "[-m MODEL] [--inject NAME | --golden PATH... | --expect FILE]",
      .details =
          "Without a mode: computes a reference, then the same tokens over every other path (cuts, batches, storage, "
          "forks, "
          "threads, vector targets, future tokens changed, no cache at all), and compares bits. The work options shape "
          "the "
          "reference; the paths set their own. The default `--length` and `--greedy` are cut to the "
          "model's context, which the first line says; a number that does not fit is refused. Exit 6 names path, "
          "position and first differing value. `--inject` "
          "breaks the engine in one known way first, so that the proof itself is tested: exit 6 is then the right "
          "answer.\n\n"
          "`--golden` replays reference vectors through contiguous and paged caches in float64 and prints each file's "
          "worst error; allowed are 1e-12 for attention and 1e-10 for the decoder, or `--tol`.\n\n"
          "`--expect` compares with logits that another implementation computed: a safetensors file with `tokens` I64 "
          "[T], "
          "`logits` F64 [T, V] and optionally `greedy` I64 [n], the tokens that continue the first 8. Allowed are "
          "2e-3, with "
          "`--compute f64` 1e-6, in int8 arithmetic 6 % of the largest logit, or `--tol`; every greedy token must be "
          "equal.\n\n"
          "`--json` `results`: `{\"ok\", \"reference\", \"logits_sha256\", \"paths\": [{\"name\", \"compared\", "
          "\"identical\", \"difference\"}]}`, `{\"golden\": [{\"file\", \"kind\", \"max_abs_error\"}], \"worst\"}`, or "
          "`{\"ok\", \"expect\": {\"max_abs_error\", \"max_abs_logit\", \"positions\", \"greedy_equal\", "
          "\"greedy_total\", \"tolerance\"}}`. `ok`, `paths`, `golden` and `expect` stand beside `results`, too.",
      .example = "ekvi verify -m model.gguf",
      .groups = {{"Proof", kOptions}, ModelGroup(), ComputeGroup(), RunGroup(), OutputGroup()},
      .arguments_max = 1 << 20,
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
