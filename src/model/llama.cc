#include "model/llama.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "files/reader_error.h"
#include "model/family_keys.h"
#include "model/rope.h"
#include "model/weights_gguf.h"

namespace ekvi::model {
namespace {

constexpr KeyRange kLayers{1, 1024}, kHeads{1, 1024}, kHeadDim{1, 1024};
constexpr KeyRange kWidth{1, int64_t{1} << 22}, kContext{1, int64_t{1} << 24};

// The numbers that all parts need.
struct Sizes {
  int64_t layers, width, context;
  std::vector<int64_t> q_heads, kv_heads, ffn;  // [layers]
  int64_t head_dim_k, head_dim_v;
};

int64_t DefaultHeadDim(const FamilyKeys& keys, int64_t width, int64_t heads) {
  if (width % heads == 0) return width / heads;
  throw keys.Fail(ErrorCode::kCorrupt, "attention.head_count", "does not divide the embedding length",
                  fmt::format("{} heads, embedding_length {}, no attention.key_length", heads, width));
}

// Layers that block_count leaves out would be missing without a word: other text, no error.
void RefuseLayersLeftOut(const FamilyKeys& keys, int64_t layers) {
  constexpr std::string_view kPrefix = "blk.";
  for (const files::GgufTensor& tensor : keys.file().tensors()) {
    if (!tensor.name.starts_with(kPrefix)) continue;
    int64_t layer = 0;
    const char* const begin = tensor.name.data() + kPrefix.size();
    std::from_chars(begin, tensor.name.data() + tensor.name.size(), layer);
    if (layer < layers) continue;
    throw keys.Fail(ErrorCode::kCorrupt, "block_count", "leaves out layers that the file holds",
                    fmt::format("{} layers, tensor '{}'", layers, tensor.name));
  }
}

Sizes ReadSizes(const FamilyKeys& keys) {
  Sizes s;
  s.layers = keys.Count("block_count", kLayers);
  RefuseLayersLeftOut(keys, s.layers);
  s.width = keys.Count("embedding_length", kWidth);
  s.context = keys.Count("context_length", kContext);
  s.ffn = keys.CountPerLayer("feed_forward_length", kWidth, s.layers);
  s.q_heads = keys.CountPerLayer("attention.head_count", kHeads, s.layers);
  s.kv_heads =
      keys.Has("attention.head_count_kv") ? keys.CountPerLayer("attention.head_count_kv", kHeads, s.layers) : s.q_heads;
  for (int64_t i = 0; i < s.layers; ++i) {
    if (s.q_heads[i] % s.kv_heads[i] == 0) continue;
    throw keys.Fail(ErrorCode::kCorrupt, "attention.head_count_kv", "does not divide the query heads",
                    fmt::format("layer {}: {} KV heads, {} query heads", i, s.kv_heads[i], s.q_heads[i]));
  }
  const bool explicit_dims = keys.Has("attention.key_length") && keys.Has("attention.value_length");
  const int64_t head_dim = explicit_dims ? 1 : DefaultHeadDim(keys, s.width, s.q_heads[0]);
  s.head_dim_k = keys.Count("attention.key_length", kHeadDim, head_dim);
  s.head_dim_v = keys.Count("attention.value_length", kHeadDim, head_dim);
  return s;
}

void RefuseWhatIsNotComputed(const FamilyKeys& keys) {
  const int64_t experts = keys.Count("expert_count", {0, INT64_MAX}, 0);
  if (experts > 0)
    throw keys.Fail(ErrorCode::kUnsupported, "expert_count",
                    fmt::format("{} experts: mixtures are not computed", experts));
  const std::optional<bool> causal = keys.file().GetBool(keys.Name("attention.causal"));
  if (causal && !*causal)
    throw keys.Fail(ErrorCode::kUnsupported, "attention.causal", "false: only causal attention is computed");
  for (const std::string_view key :
       {"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_attn_factor", "rope.scaling.yarn_log_multiplier"}) {
    if (keys.Has(key)) throw keys.Fail(ErrorCode::kUnsupported, key, "is not computed");
  }
}

void ApplyYarn(const FamilyKeys& keys, int64_t context, RopeConfig& rope) {
  const YarnScaling yarn{
      .factor = keys.Positive("rope.scaling.factor"),
      .beta_fast = keys.Positive("rope.scaling.yarn_beta_fast", 32),
      .beta_slow = keys.Positive("rope.scaling.yarn_beta_slow", 1),
      .original_context = static_cast<double>(keys.Count("rope.scaling.original_context_length", kContext, context)),
  };
  rope.divisors = YarnDivisors(rope.dims, rope.base, yarn);
  rope.attention_factor = keys.Positive("rope.scaling.attn_factor", 1) * YarnAttentionFactor(yarn.factor);
}

void ApplyScaling(const FamilyKeys& keys, int64_t context, RopeConfig& rope) {
  const std::string_view type = keys.file().GetString(keys.Name("rope.scaling.type")).value_or("none");
  if (type == "none") return;
  if (type == "linear")
    rope.divisors = LinearDivisors(rope.dims, keys.Positive("rope.scaling.factor"));
  else if (type == "yarn")
    ApplyYarn(keys, context, rope);
  else {
    throw keys.Fail(ErrorCode::kUnsupported, "rope.scaling.type",
                    fmt::format("{} is not computed here", files::Quote(type)),
                    "supported: none, linear, yarn, and a tensor rope_freqs.weight");
  }
}

// Llama 3.1 and later: a tensor with one divisor a pair, beside whatever the keys say.
void ApplyFactors(const files::GgufFile& file, RopeConfig& rope) {
  const files::GgufTensor* tensor = file.FindTensor("rope_freqs.weight");
  if (tensor == nullptr) return;
  const int64_t pairs = rope.dims / 2;
  if (ShapeOf(*tensor) != std::vector<int64_t>{pairs} || file.ComputedFormat(*tensor) != numeric::Format::kF32) {
    throw files::FileError(
        ErrorCode::kCorrupt, file.name(), "tensor rope_freqs.weight has the wrong shape or type",
        fmt::format("it is {} {}, [{}] F32 is wanted", tensor->ShapeText(), tensor->type->name, pairs), "");
  }
  const files::GgufItems<float> factors(file.Data(*tensor).data(), static_cast<size_t>(pairs));
  if (rope.divisors.empty()) rope.divisors.assign(pairs, 1);
  for (int64_t i = 0; i < pairs; ++i) {
    if (!(factors[i] > 0) || factors[i] > std::numeric_limits<float>::max()) {
      throw files::FileError(ErrorCode::kCorrupt, file.name(),
                             "tensor rope_freqs.weight holds no finite number above 0",
                             fmt::format("value {} is {}", i, factors[i]), "");
    }
    rope.divisors[i] *= factors[i];
  }
}

RopeConfig ReadRope(const FamilyKeys& keys, const Sizes& sizes) {
  RopeConfig rope;
  rope.dims = static_cast<int>(keys.Count("rope.dimension_count", {2, kHeadDim.most}, sizes.head_dim_k));
  if (rope.dims > sizes.head_dim_k || rope.dims % 2 != 0) {
    throw keys.Fail(ErrorCode::kCorrupt, "rope.dimension_count",
                    fmt::format("{} is odd or more than the head has", rope.dims),
                    fmt::format("head size {}", sizes.head_dim_k));
  }
  rope.base = keys.Positive("rope.freq_base", 10000);
  ApplyScaling(keys, sizes.context, rope);
  ApplyFactors(keys.file(), rope);
  return rope;
}

void CheckVocabulary(const files::GgufFile& file, int64_t pieces) {
  const files::GgufTensor* embedding = file.FindTensor("token_embd.weight");
  if (embedding == nullptr) return;  // the loader of weights names it
  const std::vector<int64_t> shape = ShapeOf(*embedding);
  if (shape[0] == pieces) return;
  throw files::FileError(ErrorCode::kCorrupt, file.name(),
                         "the vocabulary and tensor token_embd.weight do not belong together",
                         fmt::format("{} pieces in tokenizer.ggml.tokens, {} rows of embedding", pieces, shape[0]), "");
}

LayerConfig ReadLayer(const files::GgufFile& file, const std::string& block) {
  const auto has = [&](std::string_view name) { return file.FindTensor(block + std::string(name)) != nullptr; };
  LayerConfig layer;
  layer.biases = {.q = has("attn_q.bias"),
                  .k = has("attn_k.bias"),
                  .v = has("attn_v.bias"),
                  .o = has("attn_output.bias"),
                  .gate = has("ffn_gate.bias"),
                  .up = has("ffn_up.bias"),
                  .down = has("ffn_down.bias")};
  return layer;
}

// An order is built only for rows that the file really has: what it claims could be without bound.
LayerNames NameLayer(const files::GgufFile& file, const std::string& block, const AttentionConfig& attention) {
  const auto ref = [&](std::string_view name) { return TensorRef{.tensor = block + std::string(name)}; };
  const auto rotated = [&](std::string_view name, int64_t heads) {
    TensorRef r = ref(name);
    const files::GgufTensor* tensor = file.FindTensor(r.tensor);
    const bool whole = tensor != nullptr && ShapeOf(*tensor)[0] == heads * attention.head_dim_k;
    if (whole) r.order = HalvesFromPairs(heads, attention.head_dim_k, attention.rope->dims);
    return r;
  };
  LayerNames names;
  names.attention_norm.weight = ref("attn_norm.weight");
  names.ffn_norm.weight = ref("ffn_norm.weight");
  names.q = rotated("attn_q.weight", attention.q_heads);
  names.q_bias = rotated("attn_q.bias", attention.q_heads);
  names.k = rotated("attn_k.weight", attention.kv_heads);
  names.k_bias = rotated("attn_k.bias", attention.kv_heads);
  names.v = ref("attn_v.weight");
  names.v_bias = ref("attn_v.bias");
  names.o = ref("attn_output.weight");
  names.o_bias = ref("attn_output.bias");
  names.gate = ref("ffn_gate.weight");
  names.gate_bias = ref("ffn_gate.bias");
  names.up = ref("ffn_up.weight");
  names.up_bias = ref("ffn_up.bias");
  names.down = ref("ffn_down.weight");
  names.down_bias = ref("ffn_down.bias");
  return names;
}

}  // namespace

std::vector<int32_t> HalvesFromPairs(int64_t heads, int64_t head_dim, int64_t dims) {
  std::vector<int32_t> order(heads * head_dim);
  for (int64_t row = 0; row < heads * head_dim; ++row) {
    const int64_t first = row / head_dim * head_dim, within = row % head_dim;
    const int64_t half = dims / 2;
    const int64_t stored = within >= dims ? within : within < half ? 2 * within : 2 * (within - half) + 1;
    order[row] = static_cast<int32_t>(first + stored);
  }
  return order;
}

FamilyModel ReadLlama(const files::GgufFile& file, int64_t pieces) {
  const FamilyKeys keys(file, "llama");
  RefuseWhatIsNotComputed(keys);
  const Sizes sizes = ReadSizes(keys);
  CheckVocabulary(file, pieces);
  const NormConfig norm{.kind = kernels::NormKind::kRms, .epsilon = keys.Positive("attention.layer_norm_rms_epsilon")};
  const RopeConfig rope = ReadRope(keys, sizes);
  const int64_t window = keys.Count("attention.sliding_window", {0, INT64_MAX}, 0);

  FamilyModel model;
  model.config = {.vocabulary = static_cast<int>(pieces), .width = sizes.width, .context = sizes.context};
  model.config.final_norm = norm;
  model.config.tied_head = file.FindTensor("output.weight") == nullptr;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    const std::string block = fmt::format("blk.{}.", i);
    LayerConfig layer = ReadLayer(file, block);
    layer.attention_norm = layer.ffn_norm = norm;
    layer.attention.q_heads = static_cast<int>(sizes.q_heads[i]);
    layer.attention.kv_heads = static_cast<int>(sizes.kv_heads[i]);
    layer.attention.head_dim_k = static_cast<int>(sizes.head_dim_k);
    layer.attention.head_dim_v = static_cast<int>(sizes.head_dim_v);
    layer.attention.rope = rope;
    layer.attention.window = window;
    layer.ffn = {.width = sizes.ffn[i], .activation = kernels::Activation::kSilu, .gate = true};
    model.names.layers.push_back(NameLayer(file, block, layer.attention));
    model.config.layers.push_back(std::move(layer));
  }
  model.names.embedding.tensor = "token_embd.weight";
  model.names.final_norm.weight.tensor = "output_norm.weight";
  model.names.head.tensor = "output.weight";
  return model;
}

}  // namespace ekvi::model
