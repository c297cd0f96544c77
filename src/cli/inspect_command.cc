// What a model file holds and what running it takes.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/inspect_text.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/session_setup.h"

namespace ekvi::cli {
namespace {

constexpr Option kOptions[] = {
    {.name = "block",
     .kind = ValueKind::kInteger,
     .value = "N",
     .minimum = 16,
     .maximum = 256,
     .multiple = 16,
     .fallback = "32",
     .help = "tokens of a block, a multiple of 16"},
};

Json LayersJson(const ModelInfo& info, const CacheLayout& layout) {
  Json layers = Json::array();
  for (size_t i = 0; i < info.layers.size(); ++i) {
    const LayerInfo& layer = info.layers[i];
    const CacheLayout alone{.layers = {layout.layers.at(i)}, .dtype_k = layout.dtype_k, .dtype_v = layout.dtype_v};
    layers.push_back({{"q_heads", layer.q_heads},
                      {"kv_heads", layer.kv_heads},
                      {"head_dim_k", layer.head_dim_k},
                      {"head_dim_v", layer.head_dim_v},
                      {"window", layer.window},
                      {"rope_dims", layer.rope_dims},
                      {"rope_base", layer.rope_base},
                      {"rope_scaled", layer.rope_scaled},
                      {"rope_factor", layer.rope_factor},
                      {"feed_forward", layer.feed_forward},
                      {"experts", layer.experts},
                      {"experts_used", layer.experts_used},
                      {"kv_bytes_per_token", BytesPerToken(alone)}});
  }
  return layers;
}

Json ResultsJson(const ModelInfo& info, const TemplateFigures& chat, const CacheFigures& cache) {
  Json results{{"width", info.width}, {"feed_forward", info.feed_forward}, {"tokenizer", info.tokenizer}};
  results["template"] = chat.name.empty() ? Json() : Json{{"name", chat.name}, {"bytes", chat.bytes}};
  results["weight_bytes"] = info.weight_bytes;
  results["peak_bytes"] = info.peak_bytes;
  results["layers"] = LayersJson(info, cache.layout);
  results["kv"] = {{"type_k", DTypeName(cache.layout.dtype_k)},
                   {"type_v", DTypeName(cache.layout.dtype_v)},
                   {"bytes_per_token", cache.bytes_per_token},
                   {"ctx", cache.context},
                   {"block", cache.block_tokens},
                   {"paged_bytes", cache.paged_bytes},
                   {"contiguous_bytes", cache.contiguous_bytes}};
  Json& types = results["tensor_types"] = Json::object();
  for (const auto& [type, total] : TensorTypes(info))
    types[type] = {{"tensors", total.tensors}, {"bytes", total.bytes}};
  Json& tensors = results["tensors"] = Json::array();
  for (const TensorInfo& tensor : info.tensors) {
    tensors.push_back({{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}, {"bytes", tensor.bytes}});
  }
  Json& metadata = results["metadata"] = Json::object();
  for (const auto& [key, value] : info.metadata) metadata[key] = value;
  return results;
}

std::shared_ptr<const Model> ModelOf(const Arguments& arguments, Progress& progress) {
  if (arguments.positional().empty()) return LoadModel(arguments, progress);
  if (arguments.source("model") == Source::kFlag) {
    throw Error(ErrorCode::kInvalidArgument, "the model is given twice",
                fmt::format("as the argument {} and by --model {}", Quoted(arguments.positional()[0]),
                            Quoted(arguments.Text("model"))),
                "leave one of them out");
  }
  return LoadModel(arguments, arguments.positional()[0], progress);
}

int Run(const Arguments& arguments, Console& console) {
  Progress progress(ProgressModeOf(arguments));
  const auto model = ModelOf(arguments, progress);
  const CacheTypes types = CacheTypesOf(arguments);
  const int64_t context = arguments.Given("ctx") ? ContextOf(arguments, *model).tokens : model->info().default_context;
  const CacheFigures cache = CacheFiguresOf(model->cache_layout(types.k, types.v), context,
                                            static_cast<int>(arguments.Integer("block").value()));
  const TemplateFigures chat = TemplateFiguresOf(model->info());
  if (console.json()) {
    Json report = ReportFor(arguments, model.get());
    report["results"] = ResultsJson(model->info(), chat, cache);
    report["warnings"] = Json::array();
    if (!chat.fault.empty()) report["warnings"].push_back(chat.fault);
    console.Answer(JsonText(report));
  } else {
    console.Answer(InspectText(model->info(), chat, cache, console.verbose() ? Detail::kEverything : Detail::kSummary));
  }
  console.Finish();
  return kOk;
}

}  // namespace

const Command& InspectCommand() {
  static const Command kCommand = {
      .name = "inspect",
      .summary = "architecture, tensors, tokenizer, cache and memory of a model",
      .usage = "[MODEL | -m MODEL]",
      .details =
          "The model is the argument or `-m`, else the embedded one. `-v` adds every tensor and every metadata key. "
          "The cache "
          "figures are those of one sequence that fills `--ctx` (the model's maximum), by the same arithmetic that "
          "allocates.\n\n"
          "`--json` `results`: `width`, `feed_forward`, `tokenizer`, `template` (`name`, `bytes`; null: none that can "
          "be "
          "used), `layers` (heads, head sizes, window, rope, feed-forward, experts, `kv_bytes_per_token`), `kv`, "
          "`tensor_types`, `tensors`, `metadata`, `weight_bytes` (in memory), `peak_bytes` (resident at most while "
          "loading).",
      .example = "ekvi inspect model.gguf",
      .groups = {CacheGroup(), {"Blocks", kOptions}, ModelGroup(), ComputeGroup(), OutputGroup()},
      .run = Run,
  };
  return kCommand;
}

}  // namespace ekvi::cli
