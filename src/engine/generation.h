// The loop that makes text: the prompt in chunks, then one token a step, until a reason to finish.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ekvi/sampling.h"
#include "ekvi/session.h"
#include "engine/sequence.h"
#include "engine/step_batch.h"
#include "engine/step_model.h"
#include "engine/text_delivery.h"

namespace ekvi::engine {

// A clock that never goes back, in nanoseconds.
int64_t SteadyNanoseconds();

struct GeneratorOptions {
  int64_t chunk = 512;  // prompt tokens a step computes at most; ≥ 1
  // false: for each token the row is reset and the whole sequence computed again. Same tokens and text; what it costs
  // is in the statistics.
  bool reuse = true;
  std::vector<int32_t> end_tokens = {};  // the model's
  std::function<int64_t()> now_ns = SteadyNanoseconds;
};

// What to generate. Referred to during the call only.
struct GenerateRequest {
  std::span<const int32_t> prompt;  // continues the sequence; with the begin token where it starts one
  const SamplingOptions& sampling;
  const StopOptions& stops;
  const TextSource& text;  // fresh: nothing pushed yet
  const OnText& on_text;   // may be empty
};

// One thread at a time. `model` and `cancel` must outlive it.
//
// Cancelling. `cancel` is read before every step and never written: whoever sets it (a signal handler may) and whoever
// starts a call decide when it is cleared. A flag that is set when a call starts ends it before its first step.
//
// Failure. Whatever throws (options, a step, the sampler, the caller's own functions) leaves the sequence with the
// tokens it had; SequenceRollback says what is true of its row.
class Generator {
 public:
  // kInvalidArgument for a chunk below 1.
  Generator(StepModel& model, const std::atomic<bool>& cancel, GeneratorOptions options);

  // Continues `sequence` with the prompt and generates at most max_tokens tokens. Afterwards the sequence is what it
  // was, then the prompt, then result.tokens, whatever the reason to finish: the last token is pending, as nothing
  // asked for the logits after it. A later call goes on from there, with the same tokens as one longer call.
  //
  // The end token, the stop token and the tokens of a stop string count as generated and are in result.tokens; their
  // text is not in result.text. Reasons: kEnd a token of end_tokens (unless ignore_end); kStop a token of stops.tokens
  // or a stop string; kLength max_tokens, or the context's end: positions 0 … context - 1 are computed, the token
  // sampled after the last of them is returned but can not be fed back; kCancelled. Of several at one token: kEnd,
  // kStop, kLength. A stop string that only the end of the text completes (a character that stays cut) is a kStop too.
  //
  // An empty prompt goes on from the sequence's tokens; where none is pending the last one is computed again for its
  // logits. max_tokens 0 computes the prompt and nothing more.
  //
  // Statistics: prompt_tokens counts all tokens before the first new one, earlier turns included; cached_tokens those
  // of them that were not computed again. kv_… is the row at the end of the call.
  //
  // Errors, before the first step: kInvalidArgument for options out of range (CheckSampling, CheckStops), a prompt
  // token outside the vocabulary (with its index), an empty prompt for an empty sequence; kCapacity where sequence +
  // prompt exceed the context, with the three numbers. Later: as StepModel::Step and Sampler::Sample.
  GenerateResult Generate(Sequence& sequence, const GenerateRequest& request);

  // Appends `tokens` in chunks and writes the logits after each: out[tokens.size(), vocabulary]. Errors, the sequence
  // unchanged: as Generate for the tokens; kInvalidArgument where `out` has another size; kCancelled.
  void Logits(Sequence& sequence, std::span<const int32_t> tokens, std::span<double> out);

 private:
  struct Run;

  // Computes what is pending, and all of it again without reuse; logits from position first_logits on.
  StepEnd Compute(Sequence& sequence, int64_t first_logits, double* out);
  StepEnd Prefill(Run& run);
  FinishReason Decode(Run& run);

  StepModel* model_;
  GeneratorOptions options_;
  ChunkedSteps steps_;
  std::vector<double> logits_;  // [vocabulary], after the last token
};

}  // namespace ekvi::engine
