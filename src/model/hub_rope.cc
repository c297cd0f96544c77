#include <fmt/format.h>

#include <limits>

#include "files/reader_error.h"
#include "model/hub_model.h"

namespace ekvi::model {
namespace {

// The object with the settings of a kind of layer, and what stands beside it in config.json.
struct RopeKeys {
  const HubKeys& config;
  std::optional<HubKeys> own;  // rope_scaling or rope_parameters
  const HubRules& rules;
  const Settings& settings;

  double Number(std::string_view key, NumberRange range) const { return own->Number(key, range); }
  double Number(std::string_view key, NumberRange range, double otherwise) const {
    return own ? own->Number(key, range, otherwise) : otherwise;
  }

  // Inside first, then beside it; the family's own names of the keys count only beside it.
  double Theta(bool local) const {
    const std::string_view beside = local ? rules.local_theta : rules.rope_theta;
    const double otherwise = local ? rules.local_theta_otherwise : rules.theta;
    return Number("rope_theta", kRopeBaseRange, config.Number(beside, kRopeBaseRange, otherwise));
  }
  double Share() const {
    constexpr std::string_view kShare = "partial_rotary_factor";
    if (!rules.rope_share.empty())
      return Number(kShare, kShareRange, config.Number(rules.rope_share, kShareRange, rules.share));
    const double share = Number(kShare, kShareRange, config.Number(kShare, kShareRange, 1));
    if (share != 1)
      throw config.Fail(ErrorCode::kUnsupported, kShare, fmt::format("{} is not computed for this model_type", share));
    return share;
  }
  // The length the model was trained for, before it was stretched.
  double Original() const {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    const auto context = static_cast<double>(settings.context);
    return config.Has(kKey) ? config.Number(kKey, kOriginalContextRange) : Number(kKey, kOriginalContextRange, context);
  }
};

std::string_view TypeOf(const RopeKeys& keys) {
  if (!keys.own) return "default";
  const files::JsonObject& object = keys.own->object();
  if (const auto type = object.String("rope_type")) return *type;
  return object.String("type").value_or("default");
}

// rope_scaling, where it is not empty, else rope_parameters; of these the part for `kind`, where they have parts. What
// is not by kind does not hold for layers with a theta of their own.
std::optional<HubKeys> OwnKeys(const HubKeys& keys, std::string_view kind, bool local) {
  std::optional<files::JsonObject> object = keys.object().Object("rope_scaling");
  if (!object || object->value().members.empty()) object = keys.object().Object("rope_parameters");
  if (!object) return std::nullopt;
  if (auto part = object->Object(kind)) return HubKeys(*part);
  if (local) return std::nullopt;
  return HubKeys(*object);
}

// A factor of null is that of the two lengths.
double YarnFactor(const RopeKeys& keys, double original) {
  if (!keys.own->IsNull("factor")) return keys.Number("factor", kRopeFactorRange);
  const double factor = static_cast<double>(keys.settings.context) / original;
  if (factor > kRopeFactorRange.above) return factor;
  throw keys.own->Fail(ErrorCode::kCorrupt, "factor", "null, and the two lengths give none in range",
                       fmt::format("{} by {} positions", keys.settings.context, original));
}

// What cosine and sine are multiplied by.
double YarnAttention(const RopeKeys& keys, double factor) {
  const double mscale = keys.own->object().Number("mscale").value_or(0);
  const double all_dims = keys.own->object().Number("mscale_all_dim").value_or(0);
  const double suggested = mscale != 0 && all_dims != 0
                               ? YarnAttentionFactor(factor, mscale) / YarnAttentionFactor(factor, all_dims)
                               : YarnAttentionFactor(factor);
  if (!(suggested > kAttentionFactorRange.above && suggested <= kAttentionFactorRange.most)) {
    throw keys.own->Fail(ErrorCode::kCorrupt, "mscale", fmt::format("gives the attention factor {}", suggested),
                         fmt::format("mscale {}, mscale_all_dim {}, factor {}", mscale, all_dims, factor));
  }
  return keys.Number("attention_factor", kAttentionFactorRange, suggested);
}

void ApplyYarn(const RopeKeys& keys, RopeConfig& rope) {
  const double original = keys.Original();
  const double factor = YarnFactor(keys, original);
  const bool truncate = keys.own->Flag("truncate", true);
  rope.divisors = YarnDivisors(rope.dims, rope.base,
                               {.factor = factor,
                                .beta_fast = keys.Number("beta_fast", kRopeFactorRange, 32),
                                .beta_slow = keys.Number("beta_slow", kRopeFactorRange, 1),
                                .original_context = original,
                                .ramp = truncate ? YarnRamp::kWhole : YarnRamp::kExact});
  rope.attention_factor = YarnAttention(keys, factor);
}

void ApplyLlama3(const RopeKeys& keys, RopeConfig& rope) {
  const Llama3Scaling scaling{.factor = keys.Number("factor", kRopeFactorRange),
                              .low_freq = keys.Number("low_freq_factor", kRopeFactorRange),
                              .high_freq = keys.Number("high_freq_factor", kRopeFactorRange),
                              .original_context = keys.Original()};
  if (scaling.high_freq <= scaling.low_freq) {
    throw keys.own->Fail(ErrorCode::kCorrupt, "high_freq_factor", "is not above low_freq_factor",
                         fmt::format("{} and {}", scaling.high_freq, scaling.low_freq));
  }
  rope.divisors = Llama3Divisors(rope.dims, rope.base, scaling);
}

std::vector<double> Factors(const RopeKeys& keys, std::string_view key, int64_t pairs) {
  const auto factors = keys.own->object().Numbers(key);
  if (!factors) throw keys.own->object().Missing(key);
  if (static_cast<int64_t>(factors->size()) != pairs)
    throw keys.own->Fail(ErrorCode::kCorrupt, key, fmt::format("{} factors, {} wanted", factors->size(), pairs));
  for (const double factor : *factors) {
    if (factor > kRopeFactorRange.above && factor <= kRopeFactorRange.most) continue;
    throw keys.own->Fail(ErrorCode::kCorrupt, key, fmt::format("{} is out of range", factor),
                         fmt::format("above {}, at most {}", kRopeFactorRange.above, kRopeFactorRange.most));
  }
  return *factors;
}

void ApplyLongRope(const RopeKeys& keys, RopeConfig& rope) {
  rope.divisors = Factors(keys, "short_factor", rope.dims / 2);
  rope.long_divisors = Factors(keys, "long_factor", rope.dims / 2);
  const double original = keys.Original();
  if (original <= 1) throw keys.config.Fail(ErrorCode::kCorrupt, keys.rules.context, "1, too few to stretch");
  const double stretch = keys.Number("factor", kRopeFactorRange, static_cast<double>(keys.settings.context) / original);
  rope.attention_factor =
      keys.Number("attention_factor", kAttentionFactorRange, LongRopeAttentionFactor(stretch, original));
  rope.short_context = static_cast<int64_t>(original);
}

void ApplyScaling(const RopeKeys& keys, RopeConfig& rope) {
  const std::string_view type = TypeOf(keys);
  const bool su = keys.rules.model_type == "phi3" && (type == "su" || type == "yarn");  // earlier names for longrope
  if (type == "default") return;
  if (rope.period > 0 && type != "linear") {
    throw keys.config.Fail(
        ErrorCode::kUnsupported, keys.rules.rope_share,
        fmt::format("an odd number of dimensions with rope type {} is not computed", files::Quote(type)),
        fmt::format("{} of a head of {} rotate", rope.period, keys.settings.head_dim_k));
  }
  if (type == "linear") {
    rope.divisors = LinearDivisors(rope.dims, keys.Number("factor", kRopeFactorRange));
  } else if (type == "llama3") {
    ApplyLlama3(keys, rope);
  } else if (type == "longrope" || su) {
    ApplyLongRope(keys, rope);
  } else if (type == "yarn") {
    ApplyYarn(keys, rope);
  } else {
    const bool dynamic = type == "dynamic";
    throw keys.own->Fail(ErrorCode::kUnsupported, keys.own->Has("rope_type") ? "rope_type" : "type",
                         dynamic ? "'dynamic' makes earlier tokens' results depend on later ones"
                                 : fmt::format("{} is not computed here", files::Quote(type)),
                         "supported: default, linear, llama3, yarn, longrope",
                         dynamic ? "yarn or linear stretch the range as well" : "");
  }
}

}  // namespace

RopeConfig ReadHubRope(const HubKeys& keys, const HubRules& rules, const Settings& settings, std::string_view kind) {
  const bool local = kind == "sliding_attention" && !rules.local_theta.empty();
  const RopeKeys own{keys, OwnKeys(keys, kind, local), rules, settings};
  const double share = own.Share();
  // The reference rotates pairs (i, i + n) for i below n = half of the share, rounded up, by the unrounded period.
  const auto share_dims = static_cast<int>(static_cast<double>(settings.head_dim_k) * share);
  if (share_dims < 1) {
    throw keys.Fail(ErrorCode::kCorrupt, rules.rope_share.empty() ? "head_dim" : rules.rope_share,
                    fmt::format("{} of a head cannot rotate", share), fmt::format("head size {}", settings.head_dim_k));
  }
  RopeConfig rope{.dims = (share_dims + 1) / 2 * 2, .base = own.Theta(local)};
  if (share_dims % 2 != 0) rope.period = share_dims;
  if (rope.dims > settings.head_dim_k)
    throw keys.Fail(ErrorCode::kCorrupt, "head_dim", fmt::format("{} is odd: it cannot rotate", settings.head_dim_k));
  ApplyScaling(own, rope);
  return rope;
}

}  // namespace ekvi::model
