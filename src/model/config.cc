#include "model/config.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "ekvi/error.h"

namespace ekvi::model {
namespace {

constexpr int64_t kMaxLayers = 1024, kMaxHeads = 1024, kMaxHeadDim = 1024, kMaxExperts = 1024;
constexpr int64_t kMaxContext = int64_t{1} << 24, kMaxVocabulary = int64_t{1} << 22, kMaxWidth = int64_t{1} << 22;

[[noreturn]] void Refuse(const std::string& field, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, "model configuration: " + field + " " + why, "",
              "a value in the range that config.h states");
}

// The fields of one part of the configuration, named by their path.
class Fields {
 public:
  explicit Fields(std::string path) : path_(std::move(path)) {}
  Fields Part(std::string_view name) const { return Fields(Name(name) + "."); }
  std::string Name(std::string_view field) const { return path_ + std::string(field); }

  void InRange(std::string_view field, int64_t value, int64_t least, int64_t most) const {
    if (value < least || value > most) Refuse(Name(field), fmt::format("is {}, outside {} … {}", value, least, most));
  }
  void Positive(std::string_view field, double value) const {
    if (!(value > 0) || !std::isfinite(value)) Refuse(Name(field), fmt::format("is {}, not a positive number", value));
  }
  void NotNegative(std::string_view field, double value) const {
    if (!(value >= 0) || !std::isfinite(value))
      Refuse(Name(field), fmt::format("is {}, negative or not finite", value));
  }
  void Finite(std::string_view field, double value) const {
    if (!std::isfinite(value)) Refuse(Name(field), fmt::format("is {}, not finite", value));
  }
  void Size(std::string_view field, size_t size, int64_t wanted) const {
    if (static_cast<int64_t>(size) != wanted)
      Refuse(Name(field), fmt::format("has {} values, {} wanted", size, wanted));
  }

 private:
  std::string path_;
};

void CheckNorm(const Fields& fields, const std::optional<NormConfig>& norm) {
  if (norm) fields.Positive("epsilon", norm->epsilon);
}

void CheckRope(const Fields& fields, const RopeConfig& rope, int head_dim_k) {
  fields.InRange("dims", rope.dims, 2, head_dim_k);
  if (rope.dims % 2 != 0) Refuse(fields.Name("dims"), fmt::format("is {}, not even", rope.dims));
  fields.Positive("base", rope.base);
  fields.Positive("attention_factor", rope.attention_factor);
  if (rope.period != 0) fields.InRange("period", rope.period, rope.dims - 1, rope.dims);
  for (const auto& [name, divisors] : {std::pair{"divisors", &rope.divisors}, {"long_divisors", &rope.long_divisors}}) {
    if (divisors->empty()) continue;
    fields.Size(name, divisors->size(), rope.dims / 2);
    for (double divisor : *divisors) fields.Positive(name, divisor);
  }
  if (!rope.long_divisors.empty()) fields.InRange("short_context", rope.short_context, 1, kMaxContext);
}

void CheckFeedForward(const Fields& fields, const FeedForwardConfig& ffn) {
  fields.InRange("width", ffn.width, 1, kMaxWidth);
  if (ffn.activation == kernels::Activation::kClampedSwiglu) {
    fields.Positive("limit", ffn.limit);
    fields.Positive("alpha", ffn.alpha);
    if (!ffn.gate) Refuse(fields.Name("gate"), "is not set, but the activation needs one");
  }
  if (ffn.kind == FeedForwardKind::kDense) return;
  fields.InRange("experts.count", ffn.experts.count, 1, kMaxExperts);
  fields.InRange("experts.used", ffn.experts.used, 1, ffn.experts.count);
}

void CheckAttention(const Fields& fields, const AttentionConfig& attention) {
  fields.InRange("q_heads", attention.q_heads, 1, kMaxHeads);
  fields.InRange("kv_heads", attention.kv_heads, 1, attention.q_heads);
  fields.InRange("head_dim_k", attention.head_dim_k, 1, kMaxHeadDim);
  fields.InRange("head_dim_v", attention.head_dim_v, 1, kMaxHeadDim);
  if (attention.q_heads % attention.kv_heads != 0) {
    Refuse(fields.Name("kv_heads"),
           fmt::format("is {}, which does not divide q_heads {}", attention.kv_heads, attention.q_heads));
  }
  CheckNorm(fields.Part("q_norm"), attention.q_norm);
  CheckNorm(fields.Part("k_norm"), attention.k_norm);
  if (attention.rope) CheckRope(fields.Part("rope"), *attention.rope, attention.head_dim_k);
  fields.NotNegative("scale", attention.scale);
  fields.NotNegative("soft_cap", attention.soft_cap);
  fields.InRange("window", attention.window, 0, INT64_MAX);
  fields.InRange("sink_tokens", attention.sink_tokens, 0, INT64_MAX);
  if (!attention.alibi_slopes.empty()) fields.Size("alibi_slopes", attention.alibi_slopes.size(), attention.q_heads);
  for (double slope : attention.alibi_slopes) fields.Finite("alibi_slopes", slope);
}

void CheckLayer(const Fields& fields, const LayerConfig& layer) {
  CheckNorm(fields.Part("attention_norm"), layer.attention_norm);
  CheckNorm(fields.Part("attention_out_norm"), layer.attention_out_norm);
  CheckNorm(fields.Part("ffn_norm"), layer.ffn_norm);
  CheckNorm(fields.Part("ffn_out_norm"), layer.ffn_out_norm);
  CheckAttention(fields.Part("attention"), layer.attention);
  CheckFeedForward(fields.Part("ffn"), layer.ffn);
  if (layer.biases.gate && !layer.ffn.gate) Refuse(fields.Name("biases.gate"), "is set, but ffn.gate is not");
  fields.Finite("residual_scale", layer.residual_scale);
}

}  // namespace

void Validate(const DecoderConfig& config) {
  const Fields fields("");
  fields.InRange("vocabulary", config.vocabulary, 1, kMaxVocabulary);
  fields.InRange("width", config.width, 1, kMaxWidth);
  fields.InRange("context", config.context, 1, kMaxContext);
  fields.InRange("layers.size()", static_cast<int64_t>(config.layers.size()), 1, kMaxLayers);
  fields.InRange("learned_positions", config.learned_positions, 0, kMaxContext);
  if (config.learned_positions > 0 && config.context > config.learned_positions) {
    Refuse("context",
           fmt::format("is {}, past the {} rows of the position table", config.context, config.learned_positions));
  }
  fields.Finite("embedding_scale", config.embedding_scale);
  fields.Finite("logits_scale", config.logits_scale);
  fields.NotNegative("logits_soft_cap", config.logits_soft_cap);
  CheckNorm(fields.Part("final_norm"), config.final_norm);
  for (size_t i = 0; i < config.layers.size(); ++i) CheckLayer(Fields(fmt::format("layers[{}].", i)), config.layers[i]);
}

CacheLayout LayoutOf(const DecoderConfig& config, DType dtype_k, DType dtype_v) {
  CacheLayout layout{.layers = {}, .dtype_k = dtype_k, .dtype_v = dtype_v};
  for (const LayerConfig& layer : config.layers) {
    const AttentionConfig& attention = layer.attention;
    layout.layers.push_back({attention.kv_heads, attention.head_dim_k, attention.head_dim_v});
  }
  return layout;
}

AttentionLayer AttentionOf(const AttentionConfig& config, std::vector<double> sink_logits) {
  return {.q_heads = config.q_heads,
          .scale = config.scale,
          .window = config.window,
          .sink_tokens = config.sink_tokens,
          .soft_cap = config.soft_cap,
          .alibi_slopes = config.alibi_slopes,
          .sink_logits = std::move(sink_logits)};
}

}  // namespace ekvi::model
