#include "cli/session_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/exit_code.h"
#include "cli/format.h"
#include "ekvi/machine.h"

namespace ekvi::cli {
namespace {

// Half: the other half is for the weights' pages, the work of a step, and the rest of the machine.
constexpr uint64_t kMemoryShare = 2;

Compute ComputeOf(const Arguments& arguments) {
  if (arguments.command().Find("compute") == nullptr) return Compute::kAuto;
  const std::string name = arguments.Text("compute");
  if (name == "int8") return Compute::kInt8;
  return name == "f64" ? Compute::kF64 : name == "f32" ? Compute::kF32 : Compute::kAuto;
}

std::optional<DType> CacheType(std::string_view name, std::string_view origin) {
  if (name == "auto") return std::nullopt;
  if (const auto type = ParseDType(name)) return type;
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{}: caches have no type {}", origin, Quoted(name)),
              "they have auto, f64, f32, f16, bf16", "--kv-type auto, the default");
}

std::string Heads(const ModelInfo& info) {
  if (info.layers.empty()) return "0 layers";
  const LayerInfo& first = info.layers.front();
  const auto same = [&](const LayerInfo& layer) {
    return layer.q_heads == first.q_heads && layer.kv_heads == first.kv_heads;
  };
  const bool uniform = std::all_of(info.layers.begin(), info.layers.end(), same);
  const std::string heads = fmt::format("{}/{} heads", first.q_heads, first.kv_heads);
  return fmt::format("{}, {}", CountOf(static_cast<int64_t>(info.layers.size()), "layer"),
                     uniform ? heads : "heads by layer");
}

std::string CacheText(Session& session) {
  const SessionOptions& options = session.options();
  if (!options.reuse) return "no cache";
  const CacheLayout& layout = session.cache().layout();
  std::string types(DTypeName(layout.dtype_k));
  if (layout.dtype_v != layout.dtype_k) types += fmt::format(":{}", DTypeName(layout.dtype_v));
  return fmt::format("KV {} {}, {} at most", options.kind == CacheKind::kPaged ? "paged" : "contiguous", types,
                     Bytes(session.cache().bytes()));
}

// A model is a file, whatever it is called elsewhere: where a bare word is not found, its user may not know that.
template <typename Open>
auto Opened(const std::string& path, const Open& open) {
  try {
    return open();
  } catch (const Error& error) {
    std::error_code ignored;
    const bool bare = path.find_first_of("/.") == std::string::npos && !std::filesystem::exists(path, ignored);
    if (error.code() != ErrorCode::kNotFound || !bare) throw;
    throw Error(error.code(), error.summary(), error.numbers(),
                "the path of a GGUF file or of a folder; ./dev model smollm2 prints that of a model which it fetches");
  }
}

// What is wrong with these does not depend on the model.
void CheckWorkOptions(const Arguments& arguments) {
  CacheTypesOf(arguments);
  if (arguments.command().Find("chunk") != nullptr) SessionOptionsOf(arguments, 0);
}

}  // namespace

std::string TargetOf(const Arguments& arguments) {
  const std::string target = arguments.Text("target");
  if (target == "auto") return "";
  const auto targets = DescribeMachine().targets;
  if (std::find(targets.begin(), targets.end(), target) != targets.end()) return target;
  throw Error(ErrorCode::kUnsupported, fmt::format("{} {}: this machine lacks it", arguments.Origin("target"), target),
              fmt::format("it has {}", fmt::join(targets, ", ")), "leave it out: the best one is taken");
}

std::shared_ptr<const Model> LoadModel(const Arguments& arguments, const std::optional<std::string>& path,
                                       Progress& progress) {
  CheckWorkOptions(arguments);
  const ModelOptions options{.compute = ComputeOf(arguments)};
  if (!path) return Model::Embedded(options);
  progress.Stage("loading " + Printable(std::filesystem::path(*path).filename().string()));
  auto model = Opened(*path, [&] { return Model::Load(*path, options); });
  progress.Clear();
  return model;
}

std::shared_ptr<const Model> LoadModel(const Arguments& arguments, Progress& progress) {
  const auto path = arguments.Given("model") ? std::optional(arguments.Text("model")) : std::nullopt;
  return LoadModel(arguments, path, progress);
}

std::shared_ptr<const Tokenizer> LoadTokenizer(const Arguments& arguments, Progress& progress) {
  if (!arguments.Given("model")) {
    const auto model = Model::Embedded();
    return {model, &model->tokenizer()};
  }
  const std::string path = arguments.Text("model");
  progress.Stage("loading " + Printable(std::filesystem::path(path).filename().string()));
  auto tokenizer = Opened(path, [&] { return Tokenizer::Load(path); });
  progress.Clear();
  return tokenizer;
}

ModelTemplate LoadTemplate(const std::string& path) {
  return Opened(path, [&] { return FindChatTemplate(path); });
}

Context ContextOf(const Arguments& arguments, const Model& model) {
  const int64_t maximum = model.info().context;
  if (const auto asked = arguments.Integer("ctx")) {
    if (*asked <= maximum) return {*asked, arguments.Origin("ctx")};
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: {} is more than the model was made for", arguments.Origin("ctx"), CountOf(*asked, "token")),
        fmt::format("its maximum is {}", Count(maximum)), "--ctx max");
  }
  if (arguments.Text("ctx") == "max") return {maximum, "the model's maximum"};
  const int64_t usual = model.info().default_context;
  const Context all{usual, usual == maximum ? "the model's maximum" : "before LongRoPE; --ctx max takes all"};
  const uint64_t memory = DescribeMachine().memory_available;
  if (memory == 0) return all;
  const CacheTypes types = CacheTypesOf(arguments);
  const uint64_t per_token = std::max<uint64_t>(BytesPerToken(model.cache_layout(types.k, types.v)), 1);
  const auto affordable = static_cast<int64_t>(memory / kMemoryShare / per_token / 256 * 256);
  if (affordable >= usual) return all;
  return {std::min(std::max<int64_t>(affordable, 256), usual),
          fmt::format("half of the free {}; --ctx max takes all", Bytes(memory))};
}

CacheTypes CacheTypesOf(const Arguments& arguments) {
  if (arguments.command().Find("kv-type") == nullptr) return {};
  const std::string text = arguments.Text("kv-type");
  const std::string origin = arguments.Origin("kv-type");
  const size_t colon = text.find(':');
  const auto k = CacheType(text.substr(0, colon), origin);
  return {k, colon == std::string::npos ? k : CacheType(text.substr(colon + 1), origin)};
}

SessionOptions SessionOptionsOf(const Arguments& arguments, int64_t context) {
  const CacheTypes types = CacheTypesOf(arguments);
  if (arguments.Text("kv") == "contiguous" && arguments.source("block") == Source::kFlag) {
    throw Error(ErrorCode::kInvalidArgument, "--block has no meaning with --kv contiguous", "",
                "leave one of them out: only a paged cache has blocks");
  }
  return {.context = context,
          .kind = arguments.Text("kv") == "paged" ? CacheKind::kPaged : CacheKind::kContiguous,
          .block_tokens = static_cast<int>(arguments.Integer("block").value()),
          .dtype_k = types.k,
          .dtype_v = types.v,
          .chunk = arguments.Integer("chunk").value(),
          .threads = static_cast<int>(arguments.Integer("threads").value_or(0)),
          .target = TargetOf(arguments)};
}

void CheckFits(const Demand& demand, const Context& context, const Model& model) {
  const int64_t total = demand.prompt + demand.new_tokens;
  if (total <= context.tokens) return;
  const std::string sum = demand.new_tokens == 0
                              ? CountOf(demand.prompt, "token")
                              : fmt::format("{} + --max-tokens {} = {}", CountOf(demand.prompt, "token"),
                                            Count(demand.new_tokens), Count(total));
  const std::string smaller =
      demand.prompt < context.tokens
          ? fmt::format("--max-tokens {}", context.tokens - demand.prompt)
          : fmt::format("shorten the {} by {}", demand.prompt_name, CountOf(total - context.tokens, "token"));
  const std::string larger =
      total <= model.info().context ? fmt::format("--ctx {}", total) : "use a model with a longer context";
  throw ExitError(kUsage, ErrorCode::kCapacity, fmt::format("the {} does not fit the context", demand.prompt_name),
                  fmt::format("{} {} > ctx {} ({})", demand.prompt_name, sum, Count(context.tokens), context.reason),
                  fmt::format("{}, or {}", smaller, larger));
}

std::string HeaderLine(Session& session) {
  const ModelInfo& info = session.model().info();
  const SessionOptions& options = session.options();
  const std::string arithmetic = info.compute == "f32" ? "" : fmt::format(" | {} arithmetic", info.compute);
  return fmt::format("{} {} | {} {} | ctx {} | {} | {} | {}{}", Printable(info.name), info.weights,
                     Printable(info.architecture), Heads(info), options.context, CacheText(session),
                     CountOf(options.threads, "thread"), options.target, arithmetic);
}

}  // namespace ekvi::cli
