#include <fmt/format.h>

#include "files/reader_error.h"
#include "model/gguf_model.h"
#include "model/weights_gguf.h"

namespace ekvi::model {
namespace {

void ApplyYarn(const GgufKeys& keys, const GgufRules& rules, int64_t context, RopeConfig& rope) {
  const YarnScaling yarn{
      .factor = keys.Number("rope.scaling.factor", kRopeFactorRange),
      .beta_fast = keys.Number("rope.scaling.yarn_beta_fast", kRopeFactorRange, 32),
      .beta_slow = keys.Number("rope.scaling.yarn_beta_slow", kRopeFactorRange, 1),
      .original_context =
          static_cast<double>(keys.Count("rope.scaling.original_context_length", kContextRange, context)),
      .ramp = rules.ramp,
  };
  rope.divisors = YarnDivisors(rope.dims, rope.base, yarn);
  rope.attention_factor =
      keys.Number("rope.scaling.attn_factor", kAttentionFactorRange, 1) * YarnAttentionFactor(yarn.factor);
}

bool IsRopeFactor(double value) { return value > kRopeFactorRange.above && value <= kRopeFactorRange.most; }

// One divisor a pair, all in kRopeFactorRange; empty where there is no such tensor.
std::vector<double> Factors(const files::GgufParts& parts, std::string_view name, int64_t pairs) {
  const auto [file, tensor] = parts.Find(name);
  if (tensor == nullptr) return {};
  if (ShapeOf(*tensor) != std::vector<int64_t>{pairs} || file->ComputedFormat(*tensor) != numeric::Format::kF32) {
    throw files::FileError(
        ErrorCode::kCorrupt, file->name(), fmt::format("tensor {} has the wrong shape or type", name),
        fmt::format("it is {} {}, [{}] F32 is wanted", tensor->ShapeText(), tensor->type->name, pairs), "");
  }
  const files::GgufItems<float> stored(file->Data(*tensor).data(), static_cast<size_t>(pairs));
  std::vector<double> factors(pairs);
  for (int64_t i = 0; i < pairs; ++i) {
    factors[i] = stored[i];
    if (IsRopeFactor(factors[i])) continue;
    throw files::FileError(ErrorCode::kCorrupt, file->name(), fmt::format("tensor {} is out of range", name),
                           fmt::format("value {} is {}; above {}, at most {} is wanted", i, factors[i],
                                       kRopeFactorRange.above, kRopeFactorRange.most),
                           "");
  }
  return factors;
}

// The two tables of LongRoPE are tensors.
void ApplyLongRope(const GgufKeys& keys, int64_t context, RopeConfig& rope) {
  constexpr std::string_view kShort = "rope_factors_short.weight", kLong = "rope_factors_long.weight";
  rope.divisors = Factors(keys.parts(), kShort, rope.dims / 2);
  rope.long_divisors = Factors(keys.parts(), kLong, rope.dims / 2);
  if (rope.divisors.empty() || rope.long_divisors.empty()) {
    throw keys.Fail(ErrorCode::kCorrupt, "rope.scaling.type",
                    fmt::format("longrope, but tensor {} is missing", rope.divisors.empty() ? kShort : kLong));
  }
  rope.short_context = keys.Count("rope.scaling.original_context_length", {2, kContextRange.most}, context);
  const double original = static_cast<double>(rope.short_context);
  rope.attention_factor = keys.Number("rope.scaling.attn_factor", kAttentionFactorRange,
                                      LongRopeAttentionFactor(static_cast<double>(context) / original, original));
}

std::string_view ScalingType(const GgufKeys& keys) {
  const auto type = keys.file().GetString(keys.Name("rope.scaling.type"));
  if (type) return *type;
  if (keys.parts().Has("rope_factors_long.weight")) return "longrope";
  return keys.Has("rope.scaling.factor") || keys.Has("rope.scale_linear") ? "linear" : "none";
}

void ApplyScaling(const GgufKeys& keys, const GgufRules& rules, int64_t context, RopeConfig& rope) {
  const std::string_view type = ScalingType(keys);
  if (type == "none") return;
  if (type == "linear") {
    const bool old_key = !keys.Has("rope.scaling.factor") && keys.Has("rope.scale_linear");
    rope.divisors =
        LinearDivisors(rope.dims, keys.Number(old_key ? "rope.scale_linear" : "rope.scaling.factor", kRopeFactorRange));
  } else if (type == "yarn") {
    ApplyYarn(keys, rules, context, rope);
  } else if (type == "longrope") {
    ApplyLongRope(keys, context, rope);
  } else {
    throw keys.Fail(ErrorCode::kUnsupported, "rope.scaling.type",
                    fmt::format("{} is not computed here", files::Quote(type)),
                    "supported: none, linear, yarn, longrope, and a tensor rope_freqs.weight");
  }
}

}  // namespace

RopeConfig ReadGgufRope(const GgufKeys& keys, const GgufRules& rules, const Settings& settings) {
  RopeConfig rope;
  rope.dims = static_cast<int>(keys.Count("rope.dimension_count", {2, kHeadDimRange.most}, settings.head_dim_k));
  if (rope.dims > settings.head_dim_k || rope.dims % 2 != 0) {
    throw keys.Fail(ErrorCode::kCorrupt, "rope.dimension_count",
                    fmt::format("{} is odd or more than the head has", rope.dims),
                    fmt::format("head size {}: attention.key_length, or embedding_length by attention.head_count",
                                settings.head_dim_k));
  }
  rope.base = keys.Number("rope.freq_base", kRopeBaseRange, 10000);
  ApplyScaling(keys, rules, settings.context, rope);
  // Llama 3.1 and later: a tensor with one divisor a pair, beside whatever the keys say.
  const std::vector<double> factors = Factors(keys.parts(), "rope_freqs.weight", rope.dims / 2);
  if (!factors.empty() && rope.divisors.empty()) rope.divisors.assign(factors.size(), 1);
  for (size_t i = 0; i < factors.size(); ++i) {
    rope.divisors[i] *= factors[i];
    if (IsRopeFactor(rope.divisors[i])) continue;
    throw keys.Fail(ErrorCode::kCorrupt, "rope.scaling.factor", "does not go with tensor rope_freqs.weight",
                    fmt::format("together they divide frequency {} by {}", i, rope.divisors[i]));
  }
  return rope;
}

}  // namespace ekvi::model
