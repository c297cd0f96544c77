// Steps of a model over sequences: several at once in a ragged batch, or one through all it has pending, in chunks.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/sequence.h"
#include "engine/step_model.h"

namespace ekvi::engine {

// What a step computes of one sequence: its first `count` pending tokens, with logits after the last `logits_count`.
struct SequencePart {
  const Sequence* sequence = nullptr;
  int64_t count = 0;
  int64_t logits_count = 0;
};

// Builds the rows of a step from sequences and runs it. Keeps its array, so that a repeated step allocates nothing.
class StepBatch {
 public:
  explicit StepBatch(StepModel& model) : model_(&model) {}

  // One StepModel::Step over all parts, in their order; parts of no tokens are left out, and no step is made where all
  // are. Logits go to `out` as StepModel says. Precondition (checked): all sequences lie in the same cache, each once
  // with tokens; 0 ≤ logits_count ≤ count ≤ pending. Errors as StepModel::Step: no sequence has changed.
  void Run(std::span<const SequencePart> parts, LogitsOut out);

  StepModel& model() const { return *model_; }

 private:
  StepModel* model_;
  std::vector<StepRow> rows_;
};

enum class StepEnd { kDone, kCancelled };

// Takes one sequence forward in chunks.
class ChunkedSteps {
 public:
  // Steps of at most `chunk` ≥ 1 tokens; before each one `cancel` is looked at. Both references must outlive this.
  ChunkedSteps(StepModel& model, int64_t chunk, const std::atomic<bool>& cancel);

  // Computes all pending tokens of `sequence`. Logits after each token at position `first_logits` or later are written
  // to out[count, vocabulary]; first_logits = sequence.size() wants none. kCancelled: the steps made so far are kept,
  // the other tokens are still pending. Errors as StepModel::Step, what earlier steps computed stays (use
  // SequenceRollback).
  StepEnd Run(Sequence& sequence, int64_t first_logits, double* out);

 private:
  StepBatch batch_;
  int64_t chunk_;
  const std::atomic<bool>* cancel_;
};

}  // namespace ekvi::engine
