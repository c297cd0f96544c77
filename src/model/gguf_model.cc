#include "model/gguf_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string>

#include "files/reader_error.h"
#include "model/weights_gguf.h"

namespace ekvi::model {
namespace {

const Family& FamilyOf(const files::GgufFile& file) {
  constexpr std::string_view kKey = "general.architecture";
  const std::string_view architecture = file.RequireString(kKey);
  std::vector<std::string_view> supported;
  for (const Family* family : Families()) {
    if (family->gguf.architecture.empty()) continue;
    if (family->gguf.architecture == architecture) return *family;
    supported.push_back(family->gguf.architecture);
  }
  throw file.KeyError(ErrorCode::kUnsupported, kKey, fmt::format("{} is not computed here", files::Quote(architecture)),
                      fmt::format("supported: {}", fmt::join(supported, ", ")));
}

// Keys that change what is computed in ways that nothing here does. A value that changes nothing is let pass.
void RefuseWhatIsNotComputed(const GgufKeys& keys) {
  if (!keys.Flag("attention.causal", true))
    throw keys.Fail(ErrorCode::kUnsupported, "attention.causal", "false: only causal attention is computed");
  for (const std::string_view key :
       {"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_log_multiplier",
        "attention.clamp_kqv", "attention.max_alibi_bias", "attention.temperature_scale", "residual_scale",
        "embedding_scale", "logit_scale", "attention.key_length_mla"}) {
    if (keys.Has(key)) throw keys.Fail(ErrorCode::kUnsupported, key, "is not computed");
  }
  for (const std::string_view key : {"expert_shared_count", "expert_group_count", "expert_group_used_count"}) {
    const int64_t count = keys.Count(key, kAnyCount, 0);
    if (count > 0) throw keys.Fail(ErrorCode::kUnsupported, key, fmt::format("{}: is not computed", count));
  }
}

int64_t DefaultHeadDim(const GgufKeys& keys, int64_t width, int64_t heads) {
  const bool divides = width % heads == 0;
  if (divides && width / heads <= kHeadDimRange.most) return width / heads;
  throw keys.Fail(ErrorCode::kCorrupt, "attention.head_count",
                  divides ? "gives heads that are too large" : "does not divide the embedding length",
                  fmt::format("{} heads, embedding_length {}, no attention.key_length; a head has at most {}", heads,
                              width, kHeadDimRange.most));
}

// Layers that block_count leaves out would be missing without a word: other text, no error.
void RefuseLayersLeftOut(const GgufKeys& keys, int64_t layers) {
  constexpr std::string_view kPrefix = "blk.";
  for (const files::GgufParts::Place& place : keys.parts().tensors()) {
    const std::string_view name = place.tensor->name;
    if (!name.starts_with(kPrefix)) continue;
    int64_t layer = 0;
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
    if (layer < layers) continue;
    throw keys.Fail(ErrorCode::kCorrupt, "block_count", "leaves out layers that the file holds",
                    fmt::format("{} layers, tensor '{}'", layers, name));
  }
}

void ReadSizes(const GgufKeys& keys, Settings& s) {
  s.layers = keys.Count("block_count", kLayerRange);
  RefuseLayersLeftOut(keys, s.layers);
  s.width = keys.Count("embedding_length", kWidthRange);
  s.context = keys.Count("context_length", kContextRange);
  s.ffn = keys.CountPerLayer("feed_forward_length", kWidthRange, s.layers);
  s.q_heads = keys.CountPerLayer("attention.head_count", kHeadRange, s.layers);
  s.kv_heads = keys.Has("attention.head_count_kv") ? keys.CountPerLayer("attention.head_count_kv", kHeadRange, s.layers)
                                                   : s.q_heads;
  for (int64_t i = 0; i < s.layers; ++i) {
    if (s.q_heads[i] % s.kv_heads[i] == 0) continue;
    throw keys.Fail(ErrorCode::kCorrupt, "attention.head_count_kv", "does not divide the query heads",
                    fmt::format("layer {}: {} KV heads, {} query heads", i, s.kv_heads[i], s.q_heads[i]));
  }
  const bool explicit_dims = keys.Has("attention.key_length") && keys.Has("attention.value_length");
  const int64_t head_dim = explicit_dims ? 1 : DefaultHeadDim(keys, s.width, s.q_heads[0]);
  s.head_dim_k = keys.Count("attention.key_length", kHeadDimRange, head_dim);
  s.head_dim_v = keys.Count("attention.value_length", kHeadDimRange, head_dim);
}

void CheckVocabulary(const files::GgufParts& parts, int64_t pieces) {
  const files::GgufParts::Place embedding = parts.Find("token_embd.weight");
  if (embedding.tensor == nullptr) return;  // the loader of weights names it
  const int64_t rows = ShapeOf(*embedding.tensor)[0];
  if (rows == pieces) return;
  throw files::FileError(ErrorCode::kCorrupt, embedding.file->name(),
                         "the vocabulary and tensor token_embd.weight do not belong together",
                         fmt::format("{} pieces in tokenizer.ggml.tokens, {} rows of embedding", pieces, rows), "");
}

// attention.sliding_window for the layers that the pattern names: a list of flags, or each so many layers are full.
std::vector<int64_t> ReadWindows(const GgufKeys& keys, const GgufRules& rules, int64_t layers) {
  const int64_t window = keys.Count("attention.sliding_window", kAnyCount, 0);
  std::vector<int64_t> windows(layers, window);
  if (window == 0) return windows;
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  const files::GgufValue* pattern = keys.file().Find(keys.Name(kPattern));
  if (pattern != nullptr && pattern->type == files::GgufType::kArray) {
    const auto flags = *keys.file().GetBools(keys.Name(kPattern));
    if (static_cast<int64_t>(flags.size()) != layers)
      throw keys.Fail(ErrorCode::kCorrupt, kPattern, fmt::format("{} values for {} layers", flags.size(), layers));
    for (int64_t i = 0; i < layers; ++i) windows[i] = flags[i] != 0 ? window : 0;
    return windows;
  }
  const int64_t every = keys.Count(kPattern, kAnyCount, rules.full_every);
  for (int64_t i = 0; i < layers; ++i) {
    if (every > 0 && (i + 1) % every == 0) windows[i] = 0;
  }
  return windows;
}

ExpertsConfig ReadExperts(const GgufKeys& keys, const Family& family, int64_t count) {
  constexpr int64_t kSoftmax = 1, kSoftmaxOfChosen = 3;  // of the format's numbers for gating functions
  constexpr std::string_view kGating = "expert_gating_func", kScale = "expert_weights_scale";
  const int64_t gating = keys.Count(kGating, kAnyCount, 0);
  if (gating != 0 && gating != kSoftmax && gating != kSoftmaxOfChosen)
    throw keys.Fail(ErrorCode::kUnsupported, kGating, fmt::format("{} is not computed", gating), "softmax is");
  const double scale = keys.Number(kScale, kScaleRange, 1);
  if (scale != 1) throw keys.Fail(ErrorCode::kUnsupported, kScale, fmt::format("{} is not computed", scale));
  ExpertsConfig experts{.count = static_cast<int>(count), .weights = family.router, .router_bias = family.router_bias};
  experts.used = static_cast<int>(keys.Count("expert_used_count", {1, count}));
  if (!keys.Flag("expert_weights_norm", true)) experts.weights = RouterWeights::kSoftmaxOfAll;
  return experts;
}

// A layer has experts where the file has a router for it, or nothing else either.
void ReadFeedForward(const GgufKeys& keys, const Family& family, Settings& s) {
  s.experts.resize(s.layers);
  const int64_t count = keys.Count("expert_count", {0, kExpertRange.most}, 0);
  if (count == 0) return;
  const ExpertsConfig experts = ReadExperts(keys, family, count);
  for (int64_t i = 0; i < s.layers; ++i) {
    const std::string block = BlockName(i);
    if (!keys.parts().Has(block + "ffn_gate_inp.weight") && keys.parts().Has(block + "ffn_up.weight")) continue;
    s.experts[i] = experts;
    s.ffn[i] = keys.Count("expert_feed_forward_length", kWidthRange, s.ffn[i]);
  }
}

// A bias that one layer has, all have: a file that lost some is refused by the tensor's name.
std::vector<BiasConfig> ReadBiases(const files::GgufParts& parts, const Settings& s) {
  BiasConfig any;
  for (int64_t i = 0; i < s.layers; ++i) {
    const auto has = [&, block = BlockName(i)](std::string_view name) { return parts.Has(block + std::string(name)); };
    const bool fused = has("attn_qkv.bias");
    any.q |= fused || has("attn_q.bias"), any.k |= fused || has("attn_k.bias"), any.v |= fused || has("attn_v.bias");
    any.o |= has("attn_output.bias");
    any.gate |= has("ffn_gate.bias") || has("ffn_gate_exps.bias");
    any.up |= has("ffn_up.bias") || has("ffn_up_exps.bias");
    any.down |= has("ffn_down.bias") || has("ffn_down_exps.bias");
  }
  return std::vector<BiasConfig>(s.layers, any);
}

Settings ReadSettings(const GgufKeys& keys, const Family& family, int64_t pieces) {
  Settings s;
  ReadSizes(keys, s);
  CheckVocabulary(keys.parts(), pieces);
  s.vocabulary = pieces;
  if (family.learned_positions) s.learned_positions = s.context;
  const bool rms = family.norm == kernels::NormKind::kRms;
  s.epsilon = keys.Number(rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon", kEpsilonRange);
  s.activation = family.gguf.activation;
  s.windows = ReadWindows(keys, family.gguf, s.layers);
  s.ropes.resize(s.layers);
  if (family.rotary) s.ropes.assign(s.layers, ReadGgufRope(keys, family.gguf, s));
  ReadFeedForward(keys, family, s);
  s.biases = ReadBiases(keys.parts(), s);
  s.score_scales.assign(s.layers, keys.Number("attention.scale", kScaleRange, 0));
  s.score_cap = keys.Number("attn_logit_softcapping", kScaleRange, 0);
  s.logits_cap = keys.Number("final_logit_softcapping", kScaleRange, 0);
  s.tied = !keys.parts().Has("output.weight");
  if (family.gguf.more != nullptr) family.gguf.more(keys, s);
  return s;
}

}  // namespace

void CheckArchitecture(const files::GgufFile& file) { FamilyOf(file); }

FamilyModel ReadGgufModel(const files::GgufParts& parts, int64_t pieces) {
  const Family& family = FamilyOf(parts.first());
  const GgufKeys keys(parts, family.gguf.architecture);
  RefuseWhatIsNotComputed(keys);
  const Settings settings = ReadSettings(keys, family, pieces);
  return {ConfigOf(family, settings), GgufNames(parts, family, settings)};
}

}  // namespace ekvi::model
