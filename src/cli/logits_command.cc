// The logits after each token of a text, as a file that other programs read.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/input.h"
#include "cli/interrupts.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"
#include "ekvi/logits_file.h"
#include "ekvi/machine.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "output",
     .letter = 'o',
     .kind = ValueKind::kPath,
     .value = "OUT",
     .environment = Environment::kIgnore,
     .help = "the safetensors file to write"},
    {.name = "tokens",
     .kind = ValueKind::kText,
     .value = "IDS",
     .environment = Environment::kIgnore,
     .help = "token ids: 1,2,3"},
    {.name = "tokens-file",
     .kind = ValueKind::kPath,
     .value = "FILE",
     .environment = Environment::kIgnore,
     .help = "token ids in a file, - for stdin"},
};

using Ids = std::vector<int32_t>;

struct Given {
  Ids ids;
  std::optional<std::string> text;  // still to be encoded
  std::string origin;
};

Given ReadInput(const Arguments& arguments) {
  const int sources = arguments.Given("tokens") + arguments.Given("tokens-file") + !arguments.positional().empty();
  if (sources > 1)
    throw Error(ErrorCode::kInvalidArgument, "--tokens, --tokens-file and a text exclude each other",
                fmt::format("{} of them are given", sources), "leave all but one out");
  if (arguments.Given("tokens")) return {ParseIds(arguments.Text("tokens"), "--tokens"), {}, "--tokens"};
  if (arguments.Given("tokens-file")) {
    const std::string path = arguments.Text("tokens-file");
    return {ParseIds(ReadText(path), path), {}, path};
  }
  if (sources == 1) return {{}, arguments.positional()[0], "the text"};
  throw Error(ErrorCode::kInvalidArgument, "there are no tokens", "", "--tokens 1,2,3, --tokens-file FILE, or a text");
}

void CheckMemory(const Ids& ids, int vocabulary) {
  const uint64_t bytes = ids.size() * static_cast<uint64_t>(vocabulary) * sizeof(double);
  const uint64_t available = DescribeMachine().memory_available;
  if (available == 0 || bytes <= available) return;
  throw Error(ErrorCode::kCapacity, "the logits do not fit memory",
              fmt::format("{} tokens × {} logits need {}, available are {}", Count(static_cast<int64_t>(ids.size())),
                          Count(vocabulary), Bytes(bytes), Bytes(available)),
              "fewer tokens at a time");
}

void CheckFinite(std::span<const double> logits, size_t vocabulary, size_t first_token) {
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i])) continue;
    throw Error(
        ErrorCode::kCorrupt, fmt::format("the logits after token {} are not finite", first_token + i / vocabulary),
        fmt::format("logit {} is {}", i % vocabulary, logits[i]), "get the model file again: its weights are broken");
  }
}

// In pieces of a step each, so that progress shows; by the law the pieces change no bit.
std::vector<double> Compute(Session& session, const Ids& ids, Progress& progress) {
  const auto vocabulary = static_cast<size_t>(session.model().info().vocabulary);
  std::vector<double> logits(ids.size() * vocabulary);
  const CancelOnInterrupt cancel(session);
  const auto step = static_cast<size_t>(session.options().chunk);
  progress.Stage("logits", static_cast<int64_t>(ids.size()));
  for (size_t at = 0; at < ids.size(); at += step) {
    const size_t count = std::min(step, ids.size() - at);
    const auto part = std::span(logits).subspan(at * vocabulary, count * vocabulary);
    session.Logits(std::span(ids).subspan(at, count), part);
    if (InterruptSignal() != 0)
      throw Error(ErrorCode::kCancelled, "interrupted", "nothing was written", "run it again");
    CheckFinite(part, vocabulary, at);
    progress.Advance(static_cast<int64_t>(at + count));
  }
  progress.Clear();
  return logits;
}

void Write(const std::string& path, const Ids& ids, const std::vector<double>& logits, DType type) {
  try {
    WriteLogitsFile(path, ids, logits, type);
  } catch (const Error& error) {
    throw ExitError(kInternal, error.code(), error.summary(), error.numbers(), error.hint());
  }
}

void Conclude(const Arguments& arguments, const Model& model, size_t tokens, int64_t nanoseconds, Console& console) {
  const ModelInfo& info = model.info();
  if (console.json()) {
    Json report = ReportFor(arguments, &model);
    report["results"] = {
        {"tokens", tokens}, {"vocabulary", info.vocabulary}, {"type", info.compute}, {"total_ns", nanoseconds}};
    report["warnings"] = Json::array();
    console.Answer(JsonText(report));
  }
  console.Remark(fmt::format("{}: logits of {} × {} in {} | {}", Printable(arguments.Text("output")),
                             CountOf(static_cast<int64_t>(tokens), "token"), Count(info.vocabulary), info.compute,
                             Duration(nanoseconds)));
}

int Run(const Arguments& arguments, Console& console) {
  if (!arguments.Given("output"))
    throw Error(ErrorCode::kInvalidArgument, "there is no file to write to", "", "-o OUT.safetensors");
  CheckOutput(arguments);
  Given given = ReadInput(arguments);
  Progress progress(ProgressModeOf(arguments));
  const auto model = LoadModel(arguments, progress);
  const Ids ids = given.text ? model->tokenizer().Encode(*given.text) : std::move(given.ids);
  if (ids.empty()) throw Error(ErrorCode::kInvalidArgument, given.origin + " holds no token", "", "at least one token");
  const int vocabulary = model->info().vocabulary;
  CheckIds(ids, vocabulary, given.origin);
  const Context context = ContextOf(arguments, *model);
  CheckFits({.prompt = static_cast<int64_t>(ids.size()), .prompt_name = "input"}, context, *model);
  CheckMemory(ids, vocabulary);
  Session session(model, SessionOptionsOf(arguments, context.tokens));
  console.Remark(HeaderLine(session));
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> logits = Compute(session, ids, progress);
  const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - begin;
  Write(arguments.Text("output"), ids, logits, model->info().compute == "f64" ? DType::kF64 : DType::kF32);
  Conclude(arguments, *model, ids.size(), elapsed.count(), console);
  return kOk;
}

}  // namespace

const Command& LogitsCommand() {
  static const Command kCommand = {
      .name = "logits",
      .summary = "logits after each token, as a safetensors file",
      .usage = "[-m MODEL] (--tokens IDS | --tokens-file FILE | TEXT) -o OUT",
      .details =
          "Writes `tokens` I64 [T] and `logits` [T, vocabulary], F64 with `--compute f64`, else F32. A text is "
          "encoded with the begin token; ids are taken as they are. OUT is in place in full or not at all, and its "
          "bytes depend "
          "on model, tokens, `--compute` and `--kv-type` only. Logits that are not finite are refused.\n\n"
          "`--json` `results`: `tokens`, `vocabulary`, `type` (the arithmetic: `f32`, `int8`, `f64`), `total_ns`.",
      .example = "ekvi logits --tokens 1,5,7 -o out.safetensors",
      .groups = {{"Tokens", kOptions}, ModelGroup(), ComputeGroup(), CacheGroup(), RunGroup(), ReportGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
