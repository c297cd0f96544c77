#include "model/hub_keys.h"

#include <fmt/format.h>

namespace ekvi::model {

bool HubKeys::IsNull(std::string_view key) const { return object_.value().Find(key) != nullptr && !object_.Has(key); }

int64_t HubKeys::Checked(std::string_view key, int64_t value, KeyRange range) const {
  if (value >= range.least && value <= range.most) return value;
  throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} is out of range", value),
             fmt::format("{} … {}", range.least, range.most));
}

int64_t HubKeys::Count(std::string_view key, KeyRange range) const {
  const auto value = object_.Integer(key);
  if (!value) throw object_.Missing(key);
  return Checked(key, *value, range);
}

int64_t HubKeys::Count(std::string_view key, KeyRange range, int64_t otherwise) const {
  return Has(key) ? Count(key, range) : otherwise;
}

std::optional<std::vector<int64_t>> HubKeys::CountPerLayer(std::string_view key, KeyRange range, int64_t layers) const {
  auto values = object_.Integers(key);
  if (!values) return std::nullopt;
  if (static_cast<int64_t>(values->size()) != layers)
    throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} values for {} layers", values->size(), layers));
  for (const int64_t value : *values) Checked(key, value, range);
  return values;
}

double HubKeys::Number(std::string_view key, NumberRange range) const {
  const auto value = object_.Number(key);
  if (!value) throw object_.Missing(key);
  if (*value > range.above && *value <= range.most) return *value;
  throw Fail(ErrorCode::kCorrupt, key, fmt::format("{} is out of range", *value),
             fmt::format("above {}, at most {}", range.above, range.most));
}

double HubKeys::Number(std::string_view key, NumberRange range, double otherwise) const {
  return Has(key) ? Number(key, range) : otherwise;
}

double HubKeys::CapOrNone(std::string_view key, double otherwise) const {
  return IsNull(key) ? 0 : Number(key, kScaleRange, otherwise);
}

bool HubKeys::Flag(std::string_view key, bool otherwise) const { return object_.Bool(key).value_or(otherwise); }

void HubKeys::RefuseTrue(std::string_view key, std::string_view why) const {
  if (Flag(key, false)) throw Fail(ErrorCode::kUnsupported, key, fmt::format("true: {}", why));
}

}  // namespace ekvi::model
