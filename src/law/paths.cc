#include "law/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/fault.h"
#include "ekvi/error.h"
#include "ekvi/machine.h"
#include "files/reader_error.h"
#include "law/greedy_walk.h"

namespace ekvi::law {
namespace {

// The scalar oracle does some hundred million multiply-adds a second: half a minute at most.
constexpr uint64_t kScalarProducts = 8'000'000'000;

int64_t ScalarTokens(const Subject& subject, int64_t tokens) {
  const auto affordable = static_cast<int64_t>(kScalarProducts / std::max<uint64_t>(1, subject.parameters));
  return std::clamp<int64_t>(affordable, std::min<int64_t>(8, tokens), tokens);
}

std::optional<base::Fault> FaultOf(const std::string& name) {
  if (name.empty()) return std::nullopt;
  const std::optional<base::Fault> fault = base::ParseFault(name);
  if (fault && *fault != base::Fault::kNone) return fault;
  throw Error(ErrorCode::kInvalidArgument, "no fault is called '" + name + "'",
              fmt::format("{} are known", FaultNames().size()), "ekvi verify --inject list prints their names");
}

ReferenceSetup SetupOf(const SessionOptions& session) {
  return {.crew = {.threads = session.threads, .target = session.target},
          .storage = {.paged = session.kind == CacheKind::kPaged, .block_tokens = session.block_tokens},
          .chunk = session.chunk};
}

std::string TokensText(int64_t count, const char* kind = "") {
  return fmt::format("{}{} token{}", files::Digits(static_cast<uint64_t>(count)), kind, count == 1 ? "" : "s");
}

// The greedy tokens are those that NoCacheAtAll reaches before the context ends.
std::string ReferenceText(const VerifyOptions& options, int64_t tokens, int64_t context) {
  const std::string pass = tokens <= options.session.chunk
                               ? fmt::format("one pass over {}", TokensText(tokens))
                               : fmt::format("{} in chunks of {}", TokensText(tokens), options.session.chunk);
  const int64_t greedy = std::min(options.greedy, context - std::min<int64_t>(kGreedyPrompt, tokens));
  return fmt::format("{}, then {}", pass, TokensText(greedy, " greedy"));
}

}  // namespace

std::vector<Path> AllPaths(const Subject& subject, int64_t tokens) {
  std::vector<Path> paths = {
      {.name = "token by token", .crew = {.threads = 2}, .cut = Cut::kOneToken},
      {.name = "chunks of 1 … 97, random"},
      {.name = "contiguous", .storage = {.paged = false}},
      {.name = "batch of 8, ragged", .rows = 8},
  };
  for (const int block : {16, 32, 64}) {
    paths.push_back({.name = fmt::format("paged, shuffled blocks of {}", block),
                     .storage = {.paged = true, .block_tokens = block, .shuffled = true}});
  }
  for (const int threads : {1, 2}) {
    const std::string name = threads == 1 ? "1 thread" : "2 threads";
    paths.push_back({.name = name, .crew = {.threads = threads}, .cut = Cut::kWhole});
  }
  for (const std::string& target : DescribeMachine().targets) {
    const bool scalar = target == "scalar";
    paths.push_back({.name = scalar ? "target scalar, the oracle" : "target " + target,
                     .crew = {.target = target},
                     .tokens = scalar ? ScalarTokens(subject, tokens) : 0});
  }
  return paths;
}

VerifyReport Prove(const Subject& subject, const VerifyOptions& options,
                   const std::function<void(const PathResult&)>& on_path) {
  const std::optional<base::Fault> fault = FaultOf(options.fault);
  const base::ScopedFault in_force(fault.value_or(base::Fault::kNone));
  const int64_t context = subject.make({})->context();
  const int64_t tokens = std::clamp<int64_t>(options.tokens, 1, context);
  const Reference reference(subject, tokens, options.seed, SetupOf(options.session));

  VerifyReport report{.ok = true,
                      .reference = ReferenceText(options, tokens, context),
                      .logits_sha256 = reference.Sha256(),
                      .paths = {}};
  const auto add = [&](PathResult result) {
    report.ok = report.ok && result.identical;
    if (on_path) on_path(result);
    report.paths.push_back(std::move(result));
  };
  for (const Path& path : AllPaths(subject, tokens)) add(RunPath(subject, reference, path));
  add(ForkedAndTruncated(subject, reference));
  add(FutureTokensChanged(subject, reference));
  add(NoCacheAtAll(subject, reference, options.greedy));
  return report;
}

std::string ReferenceSha256(const Subject& subject, const VerifyOptions& options) {
  const int64_t tokens = std::clamp<int64_t>(options.tokens, 1, subject.make({})->context());
  return Reference(subject, tokens, options.seed, SetupOf(options.session)).Sha256();
}

}  // namespace ekvi::law

namespace ekvi {

std::vector<FaultInfo> FaultNames() {
  std::vector<FaultInfo> names;
  for (const base::FaultName& fault : base::AllFaults()) {
    if (fault.fault != base::Fault::kNone) names.push_back({fault.name, fault.what});
  }
  return names;
}

}  // namespace ekvi
