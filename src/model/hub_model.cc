#include "model/hub_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "files/reader_error.h"

namespace ekvi::model {
namespace {

using kernels::Activation;

constexpr std::string_view kSliding = "sliding_attention", kFull = "full_attention";

const Family& FamilyOf(const HubKeys& keys) {
  const auto type = keys.object().String("model_type");
  if (!type) throw keys.object().Missing("model_type");
  std::vector<std::string_view> supported;
  for (const Family* family : Families()) {
    if (family->hub.model_type == *type) return *family;
    supported.push_back(family->hub.model_type);
  }
  throw keys.Fail(ErrorCode::kUnsupported, "model_type", fmt::format("{} is not computed here", files::Quote(*type)),
                  fmt::format("supported: {}", fmt::join(supported, ", ")));
}

void RefuseQuantized(const HubKeys& keys) {
  const auto quantization = keys.object().Object("quantization_config");
  if (!quantization) return;
  const std::string_view method = quantization->String("quant_method").value_or("");
  throw keys.Fail(ErrorCode::kUnsupported, "quantization_config",
                  fmt::format("weights quantized by {} are not read from folders", files::Quote(method)), "",
                  "take the model in F64, F32, F16 or BF16, or as a GGUF file");
}

Activation ReadActivation(const HubKeys& keys, const HubRules& rules) {
  struct Known {
    std::string_view name;
    Activation kind;
  };
  constexpr Known kKnown[] = {{"silu", Activation::kSilu},
                              {"swish", Activation::kSilu},
                              {"gelu", Activation::kGeluErf},
                              {"gelu_python", Activation::kGeluErf},
                              {"gelu_new", Activation::kGeluTanh},
                              {"gelu_fast", Activation::kGeluTanh},
                              {"gelu_pytorch_tanh", Activation::kGeluTanh},
                              {"relu", Activation::kRelu}};
  const std::string_view name = keys.object().String(rules.activation).value_or(rules.activation_otherwise);
  std::vector<std::string_view> supported;
  for (const Known& known : kKnown) {
    if (known.name == name) return known.kind;
    supported.push_back(known.name);
  }
  throw keys.Fail(ErrorCode::kUnsupported, rules.activation, fmt::format("{} is not computed here", files::Quote(name)),
                  fmt::format("supported: {}", fmt::join(supported, ", ")));
}

int64_t DefaultHeadDim(const HubKeys& keys, const HubRules& rules, int64_t width, int64_t heads) {
  if (rules.head_dim > 0 && !keys.IsNull("head_dim")) return rules.head_dim;
  const bool divides = width % heads == 0;
  if (divides && width / heads <= kHeadDimRange.most) return width / heads;
  throw keys.Fail(
      ErrorCode::kCorrupt, rules.heads,
      fmt::format(fmt::runtime(divides ? "{} by it is too large a head" : "does not divide {}"), rules.width),
      fmt::format("{} heads, {} {}, no head_dim; a head has at most {}", heads, rules.width, width,
                  kHeadDimRange.most));
}

// Layers that the configuration leaves out would be missing without a word: other text, no error.
void RefuseLayersLeftOut(const HubKeys& keys, const HubRules& rules, const TensorSource& source, int64_t layers) {
  const std::string next = fmt::format(fmt::runtime(rules.names.layer), layers);
  for (const std::string_view prefix : {rules.names.prefix, std::string_view()}) {
    for (const std::string_view part : {rules.names.o, rules.names.down}) {
      const std::string tensor = fmt::format("{}{}{}.weight", prefix, next, part);
      if (!source.Has(tensor)) continue;
      throw keys.Fail(ErrorCode::kCorrupt, rules.layers, "leaves out layers that the weights hold",
                      fmt::format("{} layers, tensor {}", layers, files::Quote(tensor)));
    }
  }
}

void ReadSizes(const HubKeys& keys, const Family& family, Settings& s) {
  const HubRules& rules = family.hub;
  s.layers = keys.Count(rules.layers, kLayerRange);
  s.width = keys.Count(rules.width, kWidthRange);
  s.context = keys.Count(rules.context, kContextRange);
  s.vocabulary = keys.Count("vocab_size", kVocabularyRange);
  if (family.learned_positions) s.learned_positions = s.context;
  const int64_t heads = keys.Count(rules.heads, kHeadRange);
  const bool as_many = rules.kv_heads == 0 || keys.IsNull("num_key_value_heads");
  const int64_t kv_heads = keys.Count("num_key_value_heads", kHeadRange, as_many ? heads : rules.kv_heads);
  if (heads % kv_heads != 0) {
    throw keys.Fail(ErrorCode::kCorrupt, "num_key_value_heads", fmt::format("does not divide {}", rules.heads),
                    fmt::format("{} KV heads, {} {}", kv_heads, rules.heads, heads));
  }
  s.q_heads.assign(s.layers, heads);
  s.kv_heads.assign(s.layers, kv_heads);
  s.head_dim_k = s.head_dim_v =
      keys.Has("head_dim") ? keys.Count("head_dim", kHeadDimRange) : DefaultHeadDim(keys, rules, s.width, heads);
  const bool stated = rules.ffn_widths == 0 || keys.Has(rules.ffn);
  const KeyRange widths{1, stated ? kWidthRange.most : kWidthRange.most / rules.ffn_widths};
  s.ffn.assign(s.layers, stated ? keys.Count(rules.ffn, widths) : rules.ffn_widths * keys.Count(rules.width, widths));
}

bool FlagOf(const HubKeys& keys, const HubBias& bias) {
  return bias.key.empty() ? bias.otherwise : keys.Flag(bias.key, bias.otherwise);
}

std::vector<BiasConfig> ReadBiases(const HubKeys& keys, const Family& family, int64_t layers) {
  const bool attention = FlagOf(keys, family.hub.attention_bias), mlp = FlagOf(keys, family.hub.mlp_bias);
  return std::vector<BiasConfig>(layers, {.q = attention,
                                          .k = attention,
                                          .v = attention,
                                          .o = attention && family.hub.output_bias,
                                          .gate = mlp && family.gate,
                                          .up = mlp,
                                          .down = mlp});
}

// Whether a layer has a window: by layer_types, else by the family's rule.
std::vector<bool> ReadSliding(const HubKeys& keys, const HubRules& rules, int64_t layers) {
  const bool switched = keys.Flag("use_sliding_window", false);
  if (rules.windows == HubWindows::kAll) return std::vector<bool>(layers, true);
  if (rules.windows == HubWindows::kSwitched) return std::vector<bool>(layers, switched);
  std::vector<bool> sliding(layers, false);
  if (rules.windows == HubWindows::kNone) return sliding;
  if (const auto types = keys.object().Strings("layer_types")) {
    if (static_cast<int64_t>(types->size()) != layers)
      throw keys.Fail(ErrorCode::kCorrupt, "layer_types",
                      fmt::format("{} values for {} layers", types->size(), layers));
    for (int64_t i = 0; i < layers; ++i) {
      sliding[i] = (*types)[i] == kSliding;
      if (sliding[i] || (*types)[i] == kFull) continue;
      throw keys.Fail(ErrorCode::kUnsupported, "layer_types",
                      fmt::format("{} is not computed here", files::Quote((*types)[i])),
                      fmt::format("layer {}; supported: {}, {}", i, kFull, kSliding));
    }
    return sliding;
  }
  const int64_t first = rules.windows == HubWindows::kQwen
                            ? (switched ? keys.Count("max_window_layers", kAnyCount, 28) : layers)
                            : (rules.full_every > 0 ? 0 : layers);
  const int64_t every =
      rules.full_every_key.empty() ? rules.full_every : keys.Count(rules.full_every_key, kPositive, rules.full_every);
  for (int64_t i = first; i < layers; ++i) sliding[i] = every == 0 || (i + 1) % every != 0;
  return sliding;
}

std::vector<int64_t> ReadWindows(const HubKeys& keys, const HubRules& rules, int64_t layers) {
  const std::vector<bool> sliding = ReadSliding(keys, rules, layers);
  std::vector<int64_t> windows(layers, 0);
  if (std::find(sliding.begin(), sliding.end(), true) == sliding.end()) return windows;
  const bool off = rules.windows == HubWindows::kQwen && !keys.Flag("use_sliding_window", false);
  const bool named = keys.Has("sliding_window");
  const int64_t otherwise = keys.IsNull("sliding_window") ? 0 : rules.window;
  const int64_t window = off ? 0 : named ? keys.Count("sliding_window", kPositive) : otherwise;
  if (window == 0 && rules.windows != HubWindows::kAll && rules.windows != HubWindows::kSwitched) {
    throw keys.Fail(ErrorCode::kCorrupt, "sliding_window", "layers are said to have a window, but there is none",
                    off ? "use_sliding_window is false" : "the key is missing or null");
  }
  for (int64_t i = 0; i < layers; ++i) windows[i] = sliding[i] ? window : 0;
  return windows;
}

// Layers with experts: those that decoder_sparse_step and mlp_only_layers leave.
void ReadExperts(const HubKeys& keys, const Family& family, Settings& s) {
  s.experts.resize(s.layers);
  if (!family.hub.mixture) return;
  const std::string_view key = keys.Has("num_experts") ? "num_experts" : "num_local_experts";
  const int64_t count = keys.Count(key, {0, kExpertRange.most});
  if (count == 0) return;
  ExpertsConfig experts{.count = static_cast<int>(count), .weights = family.router, .router_bias = family.router_bias};
  experts.used = static_cast<int>(keys.Count("num_experts_per_tok", {1, count}));
  if (!keys.Flag("norm_topk_prob", family.hub.renormalised)) experts.weights = RouterWeights::kSoftmaxOfAll;
  const int64_t step = keys.Count("decoder_sparse_step", kPositive, 1);
  const std::vector<int64_t> dense = keys.object().Integers("mlp_only_layers").value_or(std::vector<int64_t>());
  for (int64_t i = 0; i < s.layers; ++i) {
    if ((i + 1) % step != 0 || std::find(dense.begin(), dense.end(), i) != dense.end()) continue;
    s.experts[i] = experts;
    if (!family.hub.expert_ffn.empty()) s.ffn[i] = keys.Count(family.hub.expert_ffn, kWidthRange);
  }
}

void ReadRopes(const HubKeys& keys, const Family& family, Settings& s) {
  s.ropes.resize(s.layers);
  if (!family.rotary) return;
  std::optional<RopeConfig> full, sliding;
  for (int64_t i = 0; i < s.layers; ++i) {
    std::optional<RopeConfig>& rope = s.windows[i] > 0 ? sliding : full;
    if (!rope) rope = ReadHubRope(keys, family.hub, s, s.windows[i] > 0 ? kSliding : kFull);
    s.ropes[i] = rope;
  }
}

Settings ReadSettings(const HubKeys& keys, const Family& family, const TensorSource& source) {
  Settings s;
  ReadSizes(keys, family, s);
  RefuseLayersLeftOut(keys, family.hub, source, s.layers);
  s.epsilon = keys.Number(family.hub.epsilon, kEpsilonRange, family.hub.epsilon_otherwise);
  s.activation = ReadActivation(keys, family.hub);
  s.windows = ReadWindows(keys, family.hub, s.layers);
  ReadRopes(keys, family, s);
  ReadExperts(keys, family, s);
  s.biases = ReadBiases(keys, family, s.layers);
  s.score_scales.assign(s.layers, 0);
  s.tied = keys.Flag("tie_word_embeddings", family.hub.tied);
  if (family.hub.more != nullptr) family.hub.more(keys, s);
  return s;
}

void CheckVocabulary(const HubKeys& keys, const TensorSource& source, const TensorRef& embedding, int64_t vocabulary) {
  const auto tensor = source.Find(embedding.tensor);
  if (!tensor || tensor->shape.empty() || tensor->shape[0] == vocabulary) return;  // the loader names what is missing
  throw keys.Fail(ErrorCode::kCorrupt, "vocab_size", fmt::format("does not fit tensor {}", embedding.tensor),
                  fmt::format("{} tokens, {} rows", vocabulary, tensor->shape[0]));
}

}  // namespace

FamilyModel ReadHubModel(const files::JsonObject& config, const TensorSource& source) {
  const HubKeys keys(config);
  const Family& family = FamilyOf(keys);
  RefuseQuantized(keys);
  Settings settings = ReadSettings(keys, family, source);
  FamilyModel model{.config = {}, .names = HubNamesOf(source, family, settings)};
  CheckVocabulary(keys, source, model.names.embedding, settings.vocabulary);
  // The reference unties a head that the files hold besides: it may differ from the embedding.
  if (source.Has(model.names.head.tensor)) settings.tied = false;
  model.config = ConfigOf(family, settings);
  return model;
}

}  // namespace ekvi::model
