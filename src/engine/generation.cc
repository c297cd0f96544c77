// One call is: check everything; append the prompt; compute what is pending; then sample, append, deliver, compute,
// until a reason to finish. The token just sampled is always the pending one, so a cancelled or finished call leaves
// nothing else behind than tokens, and the next call begins by computing them.
#include "engine/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ekvi/cache_layout.h"
#include "ekvi/error.h"
#include "engine/prompt_check.h"
#include "engine/sampler.h"

namespace ekvi::engine {
namespace {

// Room for text is reserved for tokens of so many bytes on average (English pieces have about 4); more only costs a
// copy.
constexpr int64_t kReservedTextBytes = 8;

bool Contains(std::span<const int32_t> tokens, int32_t token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

void CheckNotEmpty(const Sequence& sequence, std::span<const int32_t> prompt) {
  if (sequence.size() > 0 || !prompt.empty()) return;
  throw Error(ErrorCode::kInvalidArgument, "the prompt is empty", "sequence 0 tokens + prompt 0 tokens",
              "give a prompt: this model has no begin token that it could begin after");
}

// What the row holds: whole blocks of a paged cache, the tokens' own bytes of another.
void MeasureRow(const Sequence& sequence, GenerateStats* stats) {
  const KvCache& cache = sequence.cache();
  stats->kv_tokens = sequence.cached();
  const KvCache::Held held = cache.held(sequence.row());
  stats->kv_bytes = held.bytes;
  stats->kv_blocks = held.blocks;
}

}  // namespace

int64_t SteadyNanoseconds() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

// A call in progress.
struct Generator::Run {
  Sequence& sequence;
  const GenerateRequest& request;
  Sampler sampler;
  TextDelivery delivery;
  int64_t limit;  // tokens that may be sampled: max_tokens, or what the context leaves
  int64_t begun_ns;
  int64_t token_ns = 0;  // when the last token was sampled
  GenerateResult result = {};

  void Reserve() {
    result.tokens.reserve(static_cast<size_t>(limit));
    result.stats.token_ns.reserve(static_cast<size_t>(limit));
    delivery.Reserve(static_cast<size_t>(limit * kReservedTextBytes));
    sequence.Reserve(sequence.size() + static_cast<int64_t>(request.prompt.size()) + limit);
  }

  void Add(int32_t token, int64_t now_ns) {
    GenerateStats& stats = result.stats;
    if (result.tokens.empty()) {
      stats.first_token_ns = now_ns - begun_ns;
    } else {
      stats.token_ns.push_back(now_ns - token_ns);
      stats.decode_ns += now_ns - token_ns;
    }
    token_ns = now_ns;
    sequence.Append(token);
    result.tokens.push_back(token);
    stats.new_tokens += 1;
  }
};

Generator::Generator(StepModel& model, const std::atomic<bool>& cancel, GeneratorOptions options)
    : model_(&model), options_(std::move(options)), steps_(model, std::max<int64_t>(1, options_.chunk), cancel) {
  if (options_.chunk < 1) {
    throw Error(ErrorCode::kInvalidArgument, "chunk is out of range",
                fmt::format("chunk = {}, allowed: 1 or more", options_.chunk),
                "give the number of prompt tokens that one step computes at most");
  }
  logits_.resize(static_cast<size_t>(model.vocabulary()));
}

StepEnd Generator::Compute(Sequence& sequence, int64_t first_logits, double* out) {
  if (!options_.reuse) sequence.Uncache(0);
  return steps_.Run(sequence, first_logits, out);
}

StepEnd Generator::Prefill(Run& run) {
  Sequence& sequence = run.sequence;
  sequence.Append(run.request.prompt);
  const int64_t wanted = run.limit > 0 ? 1 : 0;
  sequence.Uncache(sequence.size() - wanted);
  run.result.stats.prompt_tokens = sequence.size();
  run.result.stats.cached_tokens = options_.reuse ? sequence.cached() : 0;
  const StepEnd end = Compute(sequence, sequence.size() - wanted, logits_.data());
  run.result.stats.prompt_ns = options_.now_ns() - run.begun_ns;
  return end;
}

FinishReason Generator::Decode(Run& run) {
  Sequence& sequence = run.sequence;
  const StopOptions& stops = run.request.stops;
  while (run.result.stats.new_tokens < run.limit) {
    if (run.result.stats.new_tokens > 0) {
      const StepEnd end = Compute(sequence, sequence.size() - 1, logits_.data());
      if (end == StepEnd::kCancelled) return FinishReason::kCancelled;
    }
    const int32_t token = run.sampler.Sample(logits_, sequence.tokens());
    run.Add(token, options_.now_ns());
    if (!stops.ignore_end && Contains(options_.end_tokens, token)) return FinishReason::kEnd;
    if (Contains(stops.tokens, token) || run.delivery.Push(token)) return FinishReason::kStop;
  }
  return FinishReason::kLength;
}

GenerateResult Generator::Generate(Sequence& sequence, const GenerateRequest& request) {
  CheckStops(request.stops, model_->vocabulary());
  CheckTokens(*model_, sequence, request.prompt);
  CheckNotEmpty(sequence, request.prompt);
  const auto length = sequence.size() + static_cast<int64_t>(request.prompt.size());
  Run run = {.sequence = sequence,
             .request = request,
             .sampler = Sampler(request.sampling, model_->vocabulary()),
             .delivery = TextDelivery(request.text, request.stops.strings, request.on_text),
             .limit = std::min(request.stops.max_tokens, Context(*model_, sequence.cache()) - length + 1),
             .begun_ns = options_.now_ns()};
  run.Reserve();

  SequenceRollback rollback(sequence);
  run.result.finish = Prefill(run) == StepEnd::kDone ? Decode(run) : FinishReason::kCancelled;
  if (run.delivery.Finish()) run.result.finish = FinishReason::kStop;
  run.result.text = run.delivery.TakeText();
  MeasureRow(sequence, &run.result.stats);
  rollback.Keep();
  return std::move(run.result);
}

void Generator::Logits(Sequence& sequence, std::span<const int32_t> tokens, std::span<double> out) {
  CheckTokens(*model_, sequence, tokens);
  if (out.size() != tokens.size() * logits_.size()) {
    throw Error(ErrorCode::kInvalidArgument, "the room for logits has another size",
                fmt::format("{} values for {} tokens x {} logits", out.size(), tokens.size(), logits_.size()),
                "give room for one row of logits per token");
  }
  if (tokens.empty()) return;
  SequenceRollback rollback(sequence);
  const int64_t first = sequence.size();
  sequence.Append(tokens);
  if (Compute(sequence, first, out.data()) == StepEnd::kCancelled) {
    const int64_t computed = std::max<int64_t>(0, sequence.cached() - first);
    throw Error(ErrorCode::kCancelled, "the computation of logits was cancelled",
                fmt::format("{} of {} tokens were computed", computed, tokens.size()),
                "the same call again: the sequence is as it was before it");
  }
  rollback.Keep();
}

}  // namespace ekvi::engine
