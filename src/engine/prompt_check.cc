#include "engine/prompt_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "ekvi/error.h"

namespace ekvi::engine {

int64_t Context(const StepModel& model, const KvCache& cache) { return std::min(model.context(), cache.max_len()); }

void CheckTokens(const StepModel& model, const Sequence& sequence, std::span<const int32_t> tokens) {
  const int vocabulary = model.vocabulary();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < vocabulary) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("token {} of the prompt is outside the vocabulary", i),
                fmt::format("prompt[{}] = {}, allowed: 0 to {}", i, tokens[i], vocabulary - 1),
                "use ids of this model's own tokenizer");
  }
  const int64_t context = Context(model, sequence.cache());
  const auto count = static_cast<int64_t>(tokens.size());
  if (count <= context - sequence.size()) return;
  const int64_t excess = count + sequence.size() - context;
  throw Error(ErrorCode::kCapacity, "the prompt does not fit the context",
              fmt::format("sequence {} tokens + prompt {} tokens = {} > context {}", sequence.size(), count,
                          sequence.size() + count, context),
              fmt::format("shorten prompt or sequence by {} tokens, or raise the context (the model's maximum is {})",
                          excess, model.context()));
}

}  // namespace ekvi::engine
