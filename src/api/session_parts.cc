#include "api/session_parts.h"

#include <fmt/format.h>

#include "api/decoder_steps.h"
#include "api/model_impl.h"
#include "base/thread_pool.h"
#include "ekvi/error.h"
#include "kernels/kernels.h"

namespace ekvi::api {
namespace {

[[noreturn]] void Refuse(const char* option, int64_t value, const std::string& range) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} is out of range", option), fmt::format("it is {}", value),
              range);
}

}  // namespace

SessionOptions Resolve(const Model& model, SessionOptions options) {
  const int64_t context = model.info().context;
  if (options.context < 0 || options.context > context) {
    Refuse("context", options.context, fmt::format("1 … {}, what the model was made for, or 0 for all of it", context));
  }
  if (options.sequences < 1) Refuse("sequences", options.sequences, "at least 1");
  if (options.chunk < 1) Refuse("chunk", options.chunk, "at least 1 token");
  if (options.threads < 0)
    Refuse("threads", options.threads, "at least 1, or 0 for as many as this process is granted");
  if (options.context == 0) options.context = model.info().default_context;
  if (options.threads == 0) options.threads = base::GrantedThreads();
  options.dtype_k = options.dtype_k.value_or(model.info().auto_cache_type);
  options.dtype_v = options.dtype_v.value_or(model.info().auto_cache_type);
  options.target = kernels::TargetName(kernels::ParseTarget(options.target));
  return options;
}

std::unique_ptr<KvCache> MakeCache(const Model& model, const SessionOptions& options) {
  const CacheLayout layout = model.cache_layout(options.dtype_k, options.dtype_v);
  if (options.kind == CacheKind::kContiguous) {
    return std::make_unique<ContiguousCache>(layout, ContiguousShape{options.sequences, options.context});
  }
  const int64_t blocks = options.sequences * BlocksFor(options.context, options.block_tokens);
  return std::make_unique<PagedCache>(layout,
                                      PagedShape{options.sequences, options.context, options.block_tokens, blocks});
}

std::unique_ptr<engine::StepModel> MakeSteps(const Model& model, const SessionOptions& options) {
  return MakeStepModel(model.impl().loaded, {.threads = options.threads,
                                             .target = options.target,
                                             .dtype_k = *options.dtype_k,
                                             .dtype_v = *options.dtype_v,
                                             .context = options.context});
}

}  // namespace ekvi::api
