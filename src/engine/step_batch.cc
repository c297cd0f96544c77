#include "engine/step_batch.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace ekvi::engine {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets the cancel flag");

void StepBatch::Run(std::span<const SequencePart> parts, LogitsOut out) {
  rows_.clear();
  KvCache* cache = nullptr;
  for (const SequencePart& part : parts) {
    if (part.count == 0) continue;
    const Sequence& sequence = *part.sequence;
    EKVI_CHECK(cache == nullptr || cache == &sequence.cache());
    EKVI_CHECK_OP(<=, part.count, sequence.size() - sequence.cached());
    EKVI_CHECK(part.logits_count >= 0 && part.logits_count <= part.count);
    cache = &sequence.cache();
    rows_.push_back({.row = sequence.row(),
                     .tokens = sequence.pending().first(static_cast<size_t>(part.count)),
                     .logits_count = part.logits_count});
  }
  if (cache != nullptr) model_->Step(*cache, rows_, out);
}

ChunkedSteps::ChunkedSteps(StepModel& model, int64_t chunk, const std::atomic<bool>& cancel)
    : batch_(model), chunk_(chunk), cancel_(&cancel) {
  EKVI_CHECK_OP(>=, chunk, 1);
}

StepEnd ChunkedSteps::Run(Sequence& sequence, int64_t first_logits, double* out) {
  while (sequence.cached() < sequence.size()) {
    if (cancel_->load(std::memory_order_relaxed)) return StepEnd::kCancelled;
    const int64_t begin = sequence.cached();
    const int64_t end = begin + std::min(chunk_, sequence.size() - begin);
    const int64_t logits_count = std::max<int64_t>(0, end - std::max(begin, first_logits));
    const SequencePart part = {.sequence = &sequence, .count = end - begin, .logits_count = logits_count};
    batch_.Run({&part, 1}, {.f64 = out});
    EKVI_CHECK_OP(==, sequence.cached(), end);
    out += logits_count * batch_.model().vocabulary();
  }
  return StepEnd::kDone;
}

}  // namespace ekvi::engine
