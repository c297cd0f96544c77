// Proofs on the user's machine: the law's paths, the reference vectors, logits computed by others.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ekvi/model.h"
#include "ekvi/session.h"

namespace ekvi {

struct VerifyOptions {
  int64_t tokens = 512;    // length of the reference pass, cut to the model's context
  int64_t greedy = 64;     // tokens continued with and without a cache
  uint64_t seed = 1;       // of the tokens and the random cuts
  std::string fault;       // a name of FaultNames: breaks the engine on purpose
  SessionOptions session;  // of the reference: chunk, kind, block_tokens, threads, target (the paths set their own)
};

struct PathResult {
  std::string name;      // "token by token"
  std::string compared;  // "512 × 49,152": positions and logits at each; K and V besides
  bool identical = false;
  std::string difference;  // position, first differing value and the two values; empty when identical
};

struct VerifyReport {
  bool ok = false;
  std::string reference;      // "one pass over 512 tokens, then 64 greedy tokens"
  std::string logits_sha256;  // of the reference logits as little-endian float32 (float64 in f64 arithmetic)
  std::vector<PathResult> paths;
};

// Computes the reference, then every path; `on_path` is called after each. Faults are in force during the whole run.
VerifyReport Verify(std::shared_ptr<const Model> model, const VerifyOptions& options,
                    const std::function<void(const PathResult&)>& on_path = {});

// VerifyReport::logits_sha256 alone: one pass over the tokens. The repository holds those of known models, which are
// the same on every machine (tests/logits.sha256).
std::string ReferenceSha256(std::shared_ptr<const Model> model, const VerifyOptions& options);

// The faults that VerifyOptions::fault takes, each with one line of what it breaks.
struct FaultInfo {
  std::string_view name, what;
};
std::vector<FaultInfo> FaultNames();

struct GoldenResult {
  std::string file;
  std::string kind;  // "gqa_attention", "decoder"
  double max_abs_error = 0;
};
// Replays reference vectors (files, or folders of *.safetensors) through contiguous and paged caches in float64.
std::vector<GoldenResult> VerifyGolden(const std::vector<std::filesystem::path>& paths);

struct ExpectResult {
  double max_abs_error = 0;
  double max_abs_logit = 0;
  int64_t positions = 0;
  int64_t greedy_equal = 0, greedy_total = 0;
};
// Compares with logits of another implementation: `tokens` I64 [T], `logits` F64 [T, V] (or, with `positions` I64 [P]
// and `columns` I64 [C], [P, C]), optional `greedy` I64 [n] that continues the first 8 tokens. A cache type left
// automatic is that of the arithmetic.
ExpectResult VerifyExpect(std::shared_ptr<const Model> model, const std::filesystem::path& file,
                          const SessionOptions& session = {});

}  // namespace ekvi
