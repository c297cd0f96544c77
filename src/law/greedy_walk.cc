#include "law/greedy_walk.h"

#include <algorithm>

#include "ekvi/cache.h"

namespace ekvi::law {
namespace {

void StepLast(engine::StepModel& model, KvCache& cache, std::span<const int32_t> tokens, LogitsBlock& logits) {
  const StepRow row{.row = 0, .tokens = tokens, .logits_count = 1};
  model.Step(cache, {&row, 1}, logits.out());
}

}  // namespace

int32_t GreedyToken(const LogitsBlock& logits, int64_t position) {
  int best = 0;
  for (int i = 1; i < logits.vocabulary(); ++i) {
    if (logits.at(position, i) > logits.at(position, best)) best = i;
  }
  return best;
}

GreedyWalk::GreedyWalk(const Subject& subject, std::span<const int32_t> prompt, int64_t steps) {
  const std::unique_ptr<engine::StepModel> model = subject.make({});
  steps_ = std::min(steps, model->context() - static_cast<int64_t>(prompt.size()));
  const ContiguousShape shape{.rows = 1, .max_len = static_cast<int64_t>(prompt.size()) + std::max<int64_t>(steps_, 1)};
  ContiguousCache kept(subject.layout, shape), fresh(subject.layout, shape);
  LogitsBlock cached(subject.f64, model->vocabulary()), recomputed = cached;
  cached.Resize(1);
  recomputed.Resize(1);
  std::vector<int32_t> tokens(prompt.begin(), prompt.end());
  for (int64_t step = 0; step < steps_ && difference_.empty(); ++step) {
    StepLast(*model, kept, std::span(tokens).subspan(static_cast<size_t>(kept.length(0))), cached);
    fresh.Reset(0);
    StepLast(*model, fresh, tokens, recomputed);
    difference_ = LogitsDifference(recomputed, 0, cached, 0);
    if (!difference_.empty()) difference_ = "step " + std::to_string(step) + ": " + difference_;
    tokens.push_back(GreedyToken(cached, 0));
  }
}

}  // namespace ekvi::law
